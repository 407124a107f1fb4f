"""The three data sets of texts by topic: DBpedia, Yahoo! Answers and AG's news."""

from __future__ import annotations

from typing import final

from molyneux.data.benchmarks.labelled_texts import LabelledTexts
from molyneux.data.benchmarks.text_content import Publication

_OWNERS = (
    'what the authors of "Character-level Convolutional Networks for Text Classification" (Zhang, Zhao, LeCun, 2015) publish'
)


@final
class AGNews(LabelledTexts):
    """News items of AG's corpus: title and description; world, sports, business, and science and technology.

    Published with 30,000 training and 1,900 test items of each class. See `LabelledTexts` for views, splits and settings.
    """

    @property
    def published(self) -> Publication:
        """What the owners publish."""
        fields = ("title", "description")
        return Publication("ag-news-v1", ("ag-news", "ag_news_csv"), fields, 4, "\\", f"{_OWNERS} as ag_news_csv")


@final
class DBpedia(LabelledTexts):
    """First paragraphs of Wikipedia articles: title and content; 14 classes such as company, village and film.

    Published with 40,000 training and 5,000 test articles of each class. See `LabelledTexts` for views, splits and settings.
    """

    @property
    def published(self) -> Publication:
        """What the owners publish."""
        fields = ("title", "content")
        return Publication("dbpedia-v1", ("dbpedia", "dbpedia_csv"), fields, 14, "\\n", f"{_OWNERS} as dbpedia_csv")


@final
class YahooAnswers(LabelledTexts):
    """Questions to Yahoo! Answers with their best answers: title, content and answer; 10 topics such as health and sports.

    Published with 140,000 training and 6,000 test questions of each class. `fields: [question_title, question_content]` leaves
    the answers out. See `LabelledTexts` for views, splits and settings.
    """

    @property
    def published(self) -> Publication:
        """What the owners publish."""
        fields, folders = ("question_title", "question_content", "best_answer"), ("yahoo-answers", "yahoo_answers_csv")
        return Publication("yahoo-answers-v1", folders, fields, 10, "\\n", f"{_OWNERS} as yahoo_answers_csv")
