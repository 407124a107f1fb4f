"""Words around a statement that add nothing to it: who sees it, in which picture, how sure they are, and what they call out.

Patterns are of words in small letters with one space behind each. What stands at the beginning of a sentence is taken away as
long as there is something, then what stands at its end, then what may stand anywhere.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

REMARKS = {
    "doubt": "what is doubted ('I think', 'it seems') is read as said",
    "directly": "'directly', 'slightly' and the like are left out: how far and how much is not said",
    "negated-see": "'I see no ...' is read as 'there is no ...'",
}


class Filler(NamedTuple):
    """What is taken away: where it stands, what it becomes, and the remark that is told of it, or nothing."""

    pattern: re.Pattern[str]
    instead: str
    remark: str = ""


_PICTURE = (
    "(?:picture|pic|image|img|scene|photo|photograph|drawing|canvas|illustration|painting|sketch|artwork|composition|"
    "graphic|diagram|view|frame|"
    "close up|close-up|closeup|rendering|visualization|screen|display)s?"
)
_THE_PICTURE = (
    f"(?:(?:the|this|that|a|an|my|your|our) )?(?:given |whole |entire |above |provided |shown |simple |abstract )?{_PICTURE}"
)
_COLOURS = "|".join((*COLOURS, "grey"))
_SHAPES = "|".join(("shape", "one", *SHAPES))
_PERSON = "(?:i|we|you|one|they|people|somebody|someone)"
_SEE = "(?:see|find|spot|notice|observe|make out|detect|identify|recognize|recognise|perceive)"
_CAN = "(?:can |could |may |might |will |would |'ll )?(?:only |clearly |also |easily |just |still |even )*"
_SHOWS = (
    "(?:shows|show|contains|contain|has|have|includes|include|depicts|depict|features|feature|displays|display|"
    "presents|present|"
    "consists of|is composed of|is made up of|comprises|portrays|illustrates|holds)"
)

_SAID = (
    "(?:ok|okay|k|so|well|u+m+|u+h+m*|h+m+|er|lo+l|lmao|wtf|nvm|yea|ugh|welp|meh|tbf|without exception|rofl|haha|"
    "hahaha|omg|wow|oh|ooh|ah|aha|"
    "hey|hi|hello|wait|yo|"
    "dude|bro|man|mom|mum|mommy|mama|dad|daddy|kids|teacher|folks|everyone|idk|dunno|"
    "guys|mate|look|yep|yes|yeah|yup|ya|sure|nah|nope|actually|basically|literally|honestly|notably|interestingly|clearly|"
    "obviously|additionally|also|finally|moreover|furthermore|overall|now|anyway|alright|please|pls|plz|ikr|ngl|tbh|fyi|btw|"
    "of course|in fact|in addition|as you can see|as we can see|as far as i can see|for example|for instance|lemme "
    "check|let me check|"
    "let me see|lemme see|let's see|lets see|i mean|you know|to be honest|hold on|caption|answer|question|description|"
    "hooray|yay|oops|damn|then)"
)
_DOUBT = (
    r"(?:(?:i|we) (?:think|believe|guess|suppose|bet|assume|suspect|reckon|feel)(?: that)?|(?:i|we)(?:'d| would)? "
    r"say(?: that)?|"
    r"i'm (?:pretty |quite |fairly |almost )?(?:sure|certain)(?: that)?|i am (?:pretty |quite |fairly |almost )?(?:sure|"
    r"certain)(?: that)?|"
    r"(?:pretty|quite|fairly|almost|not) sure(?: that| but)?|maybe|perhaps|probably|possibly|apparently|presumably|supposedly|"
    r"(?:it )?(?:looks|look|seems|seem|appears|appear|sounds)(?: to me)?(?: like| that| as if| as though|(?= (?:there|"
    r"the|a|all|no|most) ))|in my opinion|"
    r"imo|imho|"
    r"as far as i can tell|from what i can tell|it is likely that|chances are)"
)
_OPENED = (
    # of what follows, a statement
    ("", f"{_SAID}(?: ,)? ", ""),
    ("", f"it (?:has|have) (?=no |not |any |one |two |three |four |five |a (?!different|{_COLOURS})|an )", "there is "),
    ("", "exists? (?=no |any |one |two |three |four |five |a |an )", "there is "),
    ("", f"(?:in|on) {_THE_PICTURE}(?: ,)? (?=exist)", ""),
    ("", f"there (?:is|are) {_THE_PICTURE} (?:of|with|showing|depicting) ", "there is "),
    ("", "it (?:can be seen|is visible|is shown|is evident|is true) that ", ""),
    ("", "are (?:those|these) (?=all |both )", "are they "),
    ("", "(?:these|those) are ", "they are "),
    ("", f"{_THE_PICTURE} (?:is|are) (?:of|showing) ", "there is "),
    ("", "i (?:do not|do n't|don't|dont) think (?:that )?there (?:is|are) (?:any |an |a )", "there is not any "),
    ("", "i (?:do not|do n't|don't|dont) think (?:that )?", "it is not true that "),
    ("", "no (?=i |there |its |it's )", ""),
    ("", "(?:it is|it's|its) (?=either [a-z0-9]+ or [a-z0-9]+ [a-z]+s|exactly |at |[1-9] |two |three |four |five )", "there is "),
    ("", f"is (?:that|this) (?=(?:{_COLOURS}|{_SHAPES}) )", "is the "),
    ("", f"(?:that|this) (?=(?:{_COLOURS}|{_SHAPES}) )", "the "),
    (
        "",
        "(?:there's |it's |there is |there has |it has |it )?(?:gotta|got to|has to|have to|must) be (?=a |an |at |one "
        "|two |three |four |five |[a-z]+s )",
        "there is ",
    ),
    ("", "(?:no|right|true|correct|wrong|good) , ", ""),
    ("doubt", f"{_DOUBT}(?: ,)? ", ""),
    ("", r"(?:would|do|could) you (?:say|think|agree|confirm|believe)(?: that)? ", ""),
    ("", r"(?:can|could|would|will) you (?:please )?(?:tell me|say|check|verify|confirm|see)(?: if| whether| that) ", ""),
    (
        "",
        r"(?:please )?(?:tell me|say|check|verify|confirm|determine|decide|see|i wonder|let me know|i want to know)(?: "
        r"if| whether) ",
        "",
    ),
    ("", r"(?:please )?(?:verify|confirm) that ", ""),
    ("", r"is it (?:right|correct|so|a fact) that ", ""),
    ("", r"(?:it is|it's) (?:clear|obvious|evident|correct|right) that ", ""),
    (
        "",
        f"(?:in|on|within|inside|across|throughout|for|from|over) {_THE_PICTURE}(?: here)?(?: ,)? (?=there |all |no |"
        f"the |a |an |{_PERSON} |every |each )",
        "",
    ),
    ("", f"(?:in|on|within|inside|from) {_THE_PICTURE}(?: ,)? (?=is |are )", "there "),
    ("", f"(?:in|on|within|inside|from) {_THE_PICTURE} , ", ""),
    ("", r"(?:here|there) (?=(?:i|we|you|one) (?:can|see))", ""),
    (
        "",
        r"(?:among|amongst|of|out of|between|amid) (?:all )?(?:of )?(?:the )?(?:shapes|them|those|these)(?: shown| "
        r"displayed| present| visible| here)?(?: ,)? (?=the |there )",
        "",
    ),
    ("", f"(?:what )?{_PERSON} {_CAN}(?:{_SEE}|am seeing|are seeing|'m seeing|have|'ve got)(?: is| are)?(?: that) ", ""),
    ("", f"{_THE_PICTURE} {_SHOWS} that ", ""),
    ("", f"(?:i|we|you|one) (?:do not|do n't|can not) {_SEE} (?:a |an |any |even )", "there is not any "),
    ("", f"(?:i|we|you|one) (?:do not|do n't|can not) {_SEE} ", "there is not "),
    ("", f"{_THE_PICTURE} does not (?:show|contain|have|include|depict|feature) (?:a |an |any )", "there is not any "),
    ("", f"(?:what )?{_PERSON} {_CAN}(?:{_SEE}|am seeing|are seeing)(?: is| are)? ", "there is "),
    ("", f"{_PERSON}'m (?:seeing|looking at) ", "there is "),
    ("", f"{_PERSON} (?:am|are) looking at ", "there is "),
    ("", r"(?:we|you) have (?:got )?", "there is "),
    ("", r"here(?: is| are|'s| we have| we see| you see)(?: that)? ", "there is "),
    ("", f"(?:can|could|do|did)(?: not| n't)? {_PERSON} (?:also |please )?(?:{_SEE}|have)(?: if| that)? ", "there is "),
    ("", f"(?:are|were) {_PERSON} able to {_SEE} ", "there is "),
    ("", r"(?:have )?(?:you )?got (?=any |a |an )", "there is "),
    ("", f"(?:does|do) {_THE_PICTURE} {_SHOWS} ", "there is "),
    ("", f"(?:does|do)(?: not| n't) {_THE_PICTURE} {_SHOWS} ", "there is "),
    (
        "",
        f"(?:the|this|that|it|my|your) ?(?:given |simple |abstract )?(?:{_PICTURE} )?{_SHOWS} (?=no |a |an |one |two |"
        f"three |four |five |at |exactly |more |fewer |less |some |several |only |just |both |[a-z]+s |all |six |seven |"
        f"eight )",
        "there is ",
    ),
    (
        "",
        f"(?:(?:this|it|that) is )?(?:arafed |araffe |araffes |arafe )?(?:a |an |the )?(?:simple |abstract |digital |"
        f"close up |colorful |blurry )?{_PICTURE} (?:of|with|showing|depicting|containing|featuring|displaying|that "
        f"shows|that depicts|where|in which|consisting of) ",
        "there is ",
    ),
    ("", r"(?:arafed|araffe|araffes|arafe) ", ""),
    ("", r"(?:is|are) (?:that|this|those|these) (?=a |an |the |two |three |four |five )", "is it "),
    ("", r"(?:is|are) n't (?:that|this) (?=a |an |the )", "is n't it "),
    ("", f"it is (?:possible|easy) to {_SEE} (?:that )?", "there is "),
    ("", f"(?:is it possible to|is it possible that {_PERSON} can) {_SEE} ", "there is "),
    ("", r"there (?:is|are) (?=there (?:is|are) )", ""),
    ("", r"there (?:is|are) (?=(?:it|they) (?:is|are) )", ""),
    ("", r"(?:please )?(?:show|draw|paint|give|make|create|generate|find|imagine)(?: me| us)? ", "there is "),
)

_ANYWHERE = (
    (
        "",
        f"(?:which is |that is |is |are )?(?:visible |present |shown |displayed |depicted |seen |drawn |contained "
        f")?(?:in|on|within|inside|across|throughout|of) (?:the|this|that|your|my) (?:whole |entire |given |same |"
        f"provided )?{_PICTURE} (?=is |are |that |, |to |left |right |above |below |behind |in |$|\\. )",
        "",
    ),
    ("", f"(?:in|on|within|inside|of|from) (?:(?:the|this|that|my|your) )?(?:whole |entire |given )?{_PICTURE} ", ""),
    (
        "",
        r"(?:against|on|over|with|in front of) (?:a|an|the) (?:plain |solid |uniform |empty |blank |simple |noisy |dark "
        r"|light )*(?:white |black |dark |light |plain |blank |clear |grey |gray )?(?:background|backdrop) ",
        "",
    ),
    ("", r"in (?:there|it|sight|view|here) (?=$|\. |, )", ""),
    ("", r"on display (?=$|\. |, )", ""),
    ("doubt", r"(?<=is )(?:probably|possibly|maybe|perhaps|apparently|likely|presumably) ", ""),
    ("doubt", r"(?<=are )(?:probably|possibly|maybe|perhaps|apparently|likely|presumably) ", ""),
    (
        "directly",
        r"(?:directly|immediately|slightly|a bit|a little|a little bit|much|far|way|somewhat|a lot|significantly|"
        r"noticeably|considerably) (?=above |below |beneath |under |underneath |over |behind |in front |to the (?:left|"
        r"right) of |left of |right of |bigger |larger |smaller |darker |lighter |brighter |higher |lower |further |"
        r"farther |closer )",
        "",
    ),
    ("directly", r"(?<=to the )(?:immediate |far |direct )(?=(?:left|right) of )", ""),
    (
        "",
        r"(?:also|actually|really|def|defo|literally|clearly|definitely|certainly|indeed|simply|please|here|truly|completely|"
        r"entirely|obviously|currently|(?<!^)too|though|still|basically|like ,) ",
        "",
    ),
    (
        "",
        r"(?:geometric|geometrical|2d|flat|simple|basic|plain|lovely|nice|pretty|little bit of) (?=shape |shapes |"
        r"square|circle|triangle|pentagon|cross|ellipse|rectangle|semicircle|red |blue |green |yellow |gray |grey |cyan "
        r"|magenta )",
        "",
    ),
    (
        "",
        r"a (?:set|group|collection|bunch|series|number of exactly|row|cluster|trio|quartet|arrangement|assortment) of "
        r"(?=two |three |four |five |six |seven |eight |at |exactly |[a-z]+ shapes |[a-z]+s )",
        "",
    ),
    ("", r"can be (?:seen|found|observed|spotted) (?=$|\. )", "exists "),
    ("", r"can be (?:seen|found|observed|spotted) ", "is "),
    ("doubt", "(?:i think|i believe|i guess|i suppose|maybe|probably|perhaps) (?=a |an |the |one |two |three |[a-z]+ )", ""),
    (
        "",
        "(?:a |an )?(?:simple |geometric |abstract )*(?:composition|arrangement|pattern|design) (?:of|with|featuring|"
        "consisting of) ",
        "",
    ),
    (
        "",
        r"(?:is|are) (?:visible|present|shown|displayed|depicted|seen|there to see|in sight|to be seen|in view) (?=$|\. "
        r"|, |and )",
        "exists ",
    ),
    (
        "",
        r"(?:visible|present|shown|displayed|depicted|seen|drawn|pictured) (?=$|\. |, |is |are |to |above |below |"
        r"behind |in |left |right )",
        "",
    ),
    ("", r"can be (?:seen|found|observed|spotted) (?=$|\. )", "exists "),
    ("", r"can be (?:seen|found|observed|spotted) ", "is "),
    ("", r"in (?:this|that) one ", ""),
    ("", "(?:partially|partly|fully|completely|mostly|entirely) (?=covered|hidden|obscured|occluded|covering|behind)", ""),
    ("", r"among (?:them|the shapes|these|those) (?=$|\. |, )", ""),
    ("", r"not one (?!of )", "not a single "),
    ("", r"like (?=a |an |one |two |three |four |five |six |\d)", ""),
    ("", rf"(?:(?<=and )|(?<=but )){_PERSON} {_CAN}{_SEE} (?:that )?", "there is "),
)

_CLOSED = (
    (
        "",
        r"(?:, )?(?:right|correct|yes|no|huh|eh|please|pls|thanks|thank you|tbh|imo|lol|haha|for sure|you know|i see|ok|"
        r"okay|at all|whatsoever|any more|anymore|dude|bro|man|too|though|tho|anywhere|m8|fam|true or false|agreed|"
        r"don't you think|i can see|as you can see|to be exact) $",
        "",
    ),
    (
        "doubt",
        r"(?:, )?(?:i (?:think|believe|guess|suppose|bet|reckon)|it seems|apparently|maybe|probably|perhaps|or so it "
        r"seems|i'd say|i would say) $",
        "",
    ),
    ("", r"(?:, )?(?:that is|is)? ?(?:what|all) (?:i|we) (?:see|am seeing|'m seeing|can see) $", ""),
    ("", r"(?:, )?(?:lo+l|lmao|either|to me|(?<!is )(?<!are )(?<!in )there) $", ""),
    ("", r"(?:, )?that is what (?:i am|im|i'm|i|we) (?:seeing|see) $", ""),
    ("", r"(?:, )(?:is|are|does|do) (?:not |n't )?(?:it|there|they|he) (?:not )?$", ""),
    ("", r"(?:, )?(?:is not|are not|does not|do not|isn't|isnt|aren't|arent) (?:it|there|they) $", ""),
)


def _made(table: tuple[tuple[str, str, str], ...], before: str) -> tuple[Filler, ...]:
    return tuple(Filler(re.compile(f"{before}{pattern}"), instead, remark) for remark, pattern, instead in table)


OPENED = _made(_OPENED, "^")
ANYWHERE = _made(_ANYWHERE, r"(?:(?<= )|^)")
CLOSED = _made(_CLOSED, r"(?:(?<= )|^)")
