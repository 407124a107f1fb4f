"""Rules by which English of people is read, one kind of sentence a module, beside those of `english_of_people`."""
