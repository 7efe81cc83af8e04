"""Which language a text is in: by its script, and among languages of one script by their commonest words.

Small, quick and the same on every machine; meant to tell whole answers and sentences apart, not single words.
A text with no common word of any language known here has no language (None): nothing is guessed. Close
neighbours that share most of their common words (Norwegian and Danish, Indonesian and Malay, Croatian and
Serbian in Latin letters) are easily taken for each other.
"""

from __future__ import annotations

import bisect
import re
import unicodedata
from collections import Counter

# Not `\w+`: to Python the vowel signs of Indian scripts are no part of a word.
_WORD = re.compile(
    r"[^\s\d!-&(-/:-@\[-`{-~\u00a1\u00ab\u00bb\u00bf\u060c\u061b\u061f\u0964\u0965\u2010-\u2018\u201a-\u2026]+"
)
_ENGLISH_SPELLING = re.compile(r"ght|wh|th|sh|ck|ow|(?:ing|ics|ly|y)\b")

# First code point, last code point, and the script, or the one language written in it.
_BLOCKS = (
    (0x41, 0x24F, "Latin"), (0x370, 0x3FF, "el"), (0x400, 0x52F, "Cyrillic"), (0x530, 0x58F, "hy"),
    (0x590, 0x5FF, "he"), (0x600, 0x6FF, "Arabic"), (0x750, 0x77F, "Arabic"), (0x8A0, 0x8FF, "Arabic"),
    (0x900, 0x97F, "Devanagari"),
    (0x980, 0x9FF, "bn"), (0xA00, 0xA7F, "pa"), (0xA80, 0xAFF, "gu"), (0xB00, 0xB7F, "or"), (0xB80, 0xBFF, "ta"),
    (0xC00, 0xC7F, "te"), (0xC80, 0xCFF, "kn"), (0xD00, 0xD7F, "ml"), (0xD80, 0xDFF, "si"), (0xE00, 0xE7F, "th"),
    (0xE80, 0xEFF, "lo"), (0xF00, 0xFFF, "bo"), (0x1000, 0x109F, "my"), (0x10A0, 0x10FF, "ka"), (0x1100, 0x11FF, "ko"),
    (0x1200, 0x139F, "am"), (0x1780, 0x17FF, "km"), (0x1E00, 0x1EFF, "Latin"), (0x1F00, 0x1FFF, "el"),
    (0x3040, 0x30FF, "ja"), (0x3130, 0x318F, "ko"), (0x31F0, 0x31FF, "ja"), (0x3400, 0x4DBF, "Han"),
    (0x4E00, 0x9FFF, "Han"), (0xAC00, 0xD7AF, "ko"), (0xF900, 0xFAFF, "Han"), (0xFB50, 0xFDFF, "Arabic"),
    (0xFE70, 0xFEFF, "Arabic"), (0x20000, 0x3FFFF, "Han"),
)  # fmt: skip
_FIRSTS = [first for first, _, _ in _BLOCKS]

_SHARED: dict[str, dict[str, str]] = {
    "Latin": {
        "en": "the of and to in is that it for was on are with as his they at be this from have or had by not but "
        "what all were we when your can said there an each which she do how their if will up about out many then "
        "them these so some her would make like him into has you my our i he its than who been could may any over here "
        "there only just "
        "also because where after before through most other such",
        "de": "der die das und ist nicht ein eine mit auf für den dem des sich auch als wie wird zu von im ich es "
        "sie wir aber oder noch nur bei nach einer einem einen sind war haben kann durch über werden dass mehr",
        "fr": "le la les des et est une un dans pour que qui pas sur avec il elle nous vous ce cette ces sont du au "
        "aux plus ne par mais ou son sa ses leur être fait comme tout je d'un c'est qu'il l'on d'une n'est où",
        "es": "el la los las de y en que es un una por con para no se del al lo su como más pero sus le ya o este "
        "sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos fue son está",
        "pt": "o a os as de e em que é um uma por com para não se do da dos das no na nos nas ao mais mas seu sua "
        "como foi ou quando muito já eu também só pelo pela até isso ela entre era depois sem mesmo você são está",
        "it": "il lo la i gli le di e che è un una per con non si del della dei delle nel nella al alla come più ma "
        "anche sono questo questa da ha ci se io mi perché tutto essere molto quando o dal sul alle degli",
        "nl": "de het een en van is in dat op te zijn met voor niet aan er om ook als maar bij naar uit dan door "
        "over ze hij wordt heeft worden deze die nog wel geen zal kan meer wat hun mijn ik je",
        "sv": "och att det i en är som på för med av den till inte har de ett om men var jag så vi kan från eller "
        "när mycket också efter under vid skulle ska hade alla detta man nu ut",
        "da": "og at det i en er som på for med af den til ikke har de et om men var jeg så vi kan fra eller når "
        "meget også efter under ved skulle skal havde alle dette man nu ud blev hvad være mig",
        "no": "og å det i en er som på for med av den til ikke har de et om men var jeg så vi kan fra eller når "
        "meget også etter under ved skulle skal hadde alle dette man nå ut ble hva være meg bli",
        "fi": "ja on ei että se oli hän mutta ovat kun niin kuin myös sen tai joka jos mitä voi ole minä hänen "
        "siitä vain mukaan sekä kanssa jotka tämä ollut nyt sitä tästä olen me he te sinä vielä kaikki",
        "pl": "i w na z nie się że do jest to o jak ale po za od przez być tak dla co są by już czy tylko które "
        "może był który jego jej ich ma tym jako oraz przy bardzo można także lub",
        "cs": "a v na se je to že s z do o i ve jako za po by ale od pro jsou být který která jeho tak byl nebo "
        "když už které ještě jen má byla bylo při aby také mezi může",
        "sk": "a v na sa je to že s z do o aj vo ako za po by ale od pre sú byť ktorý ktorá jeho tak bol alebo keď "
        "už ktoré ešte len má bola bolo pri aby tiež medzi môže",
        "sl": "in v na se je da za so s z do o pa tudi kot po bi ali od ki ni bil lahko njegov tako bila bilo pri "
        "med zelo več ko sem vse",
        "hr": "i u na se je da za su s o a od kao po bi ali ili što koji koja nije bio njegov tako bila bilo pri "
        "među vrlo više kad sam sve može biti",
        "ro": "și în de la a cu pe nu că este un o pentru din care mai se au fost sunt ce dar sau ca prin până după "
        "foarte lui acest această fi poate când între sa său noi ei",
        "hu": "a az és hogy nem is egy van volt ez azt de meg csak már mint még el ki vagy kell lehet nagyon ha "
        "amely után szerint minden én mi ők azonban lesz között",
        "tr": "ve bir bu da de için ile çok olarak daha gibi o ne var mı kadar ama en sonra olan her ben ancak "
        "değil ya diye şey olduğu veya tarafından göre iyi biz siz onun",
        "vi": "và của là có không được cho một các trong với người này đã những để khi từ đến tôi nhưng cũng về "
        "như ra hay vì làm thì bạn rất nhiều ở năm trên phải đó sẽ",
        "id": "yang dan di dari untuk dengan pada ini itu tidak dalam adalah ke akan juga oleh saya atau mereka ada "
        "dapat kami telah sebagai karena lebih bisa kita sudah anda tersebut",
        "ms": "yang dan di dari untuk dengan pada ini itu tidak dalam adalah ke akan juga oleh saya atau mereka ada "
        "boleh kami telah sebagai kerana lebih ialah kita sudah anda tersebut",
        "sw": "na ya wa kwa ni katika la za cha kuwa hii kama au yake sana si lakini hiyo yao wao mimi sisi hivyo "
        "hata pia bila kila baada watu zaidi ambayo ambao kutoka vya yangu wetu huu hizi tu hapo",
        "et": "ja on ei et see oli ta kui ka aga või mis oma seda nii siis välja ainult väga pole mida tema olid "
        "üle pärast kes meie ning ole veel kõik",
        "lv": "un ir ar no uz par ka kas bet vai to kā arī tas pie pēc bija nav lai šis viņš tikai es mēs ļoti kad "
        "viss savu",
        "lt": "ir yra ne kad į su iš tai bet ar kaip buvo jo jie tik už per apie nuo man labai jau taip kuris prie "
        "savo dar",
        "ca": "el la els les de i a en que és un una per amb no es del al com més però seva seu també aquest aquesta "
        "són ha hi molt quan entre sense fins on tot perquè",
        "tl": "ang ng sa na mga at ay ito ko mo si kung hindi para may nang siya rin ako lang kanyang isang nila po "
        "namin kayo naman kaya",
        "af": "die en van is in dat het nie om op te vir met 'n sy wat was aan ek as by maar hulle ook word sal kan "
        "hy so na daar baie",
        "sq": "dhe të në e i një për me që nga është si nuk ka më se kjo ky do janë por edhe duke tij shumë kur",
        "cy": "y yr a o i yn ar am ei mae yw oedd gan wedi ond fel hyn hwn nid ac bod gyda eu ein chi",
        "so": "waa iyo in ka ku oo uu ay la ah soo waxaa si aan ugu kale wax ama badan ayaa isku dad",
    },
    "Cyrillic": {
        "ru": "и в не на что с он как это по но из у за от так же для вы его она мы все к бы был о был они или "
        "если при есть когда чтобы уже только этот может ещё еще были быть себя очень",
        "uk": "і в не на що з він як це по але із у за від так же для ви його вона ми все до би був про вони або "
        "якщо при є коли щоб вже тільки цей може ще були бути та також дуже",
        "bg": "и в не на че с той как това по но от за да така ли за вие го тя ние всичко към би беше са са или "
        "ако при е когато още само този може са бъде се ще един която който като",
        "mk": "и во не на дека со тој како ова по но од за да така ли вие го таа ние сè кон би беше се или ако "
        "при е кога уште само овој може биде ќе еден која кој ги",
        "sr": "и у не на да са он како ово по али од за је тако ли ви га она ми све ка би био су или ако при "
        "када још само овај може бити се ће један која који као што",
        "be": "і ў не на што з ён як гэта па але ад за так жа для вы яго яна мы усё да бы быў пра яны або калі "
        "пры ёсць каб ужо толькі гэты можа яшчэ былі быць",
        "kk": "және бұл мен үшін бір да де деп болды емес бар осы ол еді туралы болып кейін",
        "mn": "нь байна юм бол энэ гэж байсан та ба биш болон олон хүн түүний",
    },
    "Arabic": {
        "ar": "في من على أن إلى هذا التي الذي عن مع كان هذه لا ما كل أو هو هي كما لم بعد قد بين وقد إن ذلك حتى عند "
        "إذا أنا نحن لكن يمكن أكثر",
        "fa": "و در به از که این را با است برای آن یک خود تا بر بود شده می هم او ما شما من نیز یا باید شود کرد "
        "هر چه اگر است هستند های دارد کند",
        "ur": "اور کے میں ہے کی کا سے کو کہ یہ پر نے اس ہیں نہیں تھا ایک بھی ہو گیا کر وہ لیے تو ان کیا ہم آپ جو "
        "تھے گا ہوں",
        "ps": "او د په کې چې له دا سره ته هم دی یې نه به کړي شوي وي هغه لپاره ده",
    },
    "Devanagari": {
        "hi": "के है में की से और को का एक यह हैं ने पर भी नहीं इस कि जो तो हो कर था लिए वह या गया आप मैं हम हुए "
        "साथ अपने थे बहुत अगर",
        "mr": "आहे आणि या च्या ते हे एक मध्ये आहेत तर नाही होते पण की तो ही मी आपण त्या साठी असे होता आपल्या "
        "करण्यासाठी असते खूप त्यांच्या तुम्ही आम्ही किंवा केले",
        "ne": "छ र मा यो पनि छन् लाई गर्न भएको तर गर्ने हुन् थियो गरेको त्यो यस म हामी तपाईं छैन धेरै लागि भने "
        "हुन्छ गर्नुहोस् तपाईंको हो",
    },
}  # fmt: skip

_LETTERS: dict[str, tuple[str, str]] = {
    "de": ("ß", "Latin"), "es": ("ñ¿¡", "Latin"), "pt": ("ãõ", "Latin"), "pl": ("łąęźż", "Latin"),
    "cs": ("řěů", "Latin"), "hu": ("őű", "Latin"), "tr": ("ğış", "Latin"), "ro": ("țșăâ", "Latin"),
    "vi": ("ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ", "Latin"),
    "uk": ("ґєї", "Cyrillic"), "be": ("ў", "Cyrillic"), "ru": ("ыэё", "Cyrillic"), "sr": ("ђћџљњ", "Cyrillic"),
    "mk": ("ѓќѕ", "Cyrillic"), "fa": ("ژ", "Arabic"), "ur": ("ٹڈڑںے", "Arabic"), "mr": ("ळ", "Devanagari"),
}  # fmt: skip

_ONLY = {language for _, _, language in _BLOCKS if len(language) == 2}
LANGUAGES: tuple[str, ...] = tuple(
    sorted({*_ONLY, "zh", *(code for words in _SHARED.values() for code in words)})
)
"""The languages known, by their two-letter codes."""

_WORDS: dict[str, dict[str, tuple[str, ...]]] = {}
for _script, _languages in _SHARED.items():
    _of: dict[str, list[str]] = {}
    for _code, _text in _languages.items():
        for _one in dict.fromkeys(_text.split()):
            _of.setdefault(_one, []).append(_code)
    _WORDS[_script] = {word: tuple(codes) for word, codes in _of.items()}


def detect_language(text: str) -> str | None:
    """The two-letter code of the language a text is mostly in; None where nothing tells.

    >>> detect_language("The response is English"), detect_language("Das ist nicht ein Haus")
    ('en', 'de')
    >>> detect_language("ಇದು ಕನ್ನಡ"), detect_language("42 + 7"), detect_language("Xyzzy")
    ('kn', None, None)
    """
    script = dominant_script(text)
    if script in (None, "Han"):
        return "zh" if script else None
    if script not in _SHARED:
        return script
    assert script is not None
    scores = _scores(text, script)
    if not scores:
        return None
    best = max(scores.values())
    return next(code for code in _SHARED[script] if scores.get(code) == best)


def dominant_script(text: str) -> str | None:
    """The script most letters of a text are in, or the one language it is for; None without letters.

    >>> dominant_script("Привет!"), dominant_script("안녕"), dominant_script("12")
    ('Cyrillic', 'ko', None)
    """
    counted: Counter[str] = Counter()
    for character, times in Counter(text).items():
        script = _script_of(character)
        if script is not None:
            counted[script] += times
    if not counted:
        return None
    if counted["ja"] * 10 >= counted["Han"] and counted["ja"]:
        counted["ja"] += counted.pop("Han", 0)
    return max(sorted(counted), key=counted.__getitem__)


def script_of_language(code: str) -> str:
    """What `dominant_script` gives for a text in a language of `LANGUAGES`.

    >>> script_of_language("de"), script_of_language("th"), script_of_language("zh")
    ('Latin', 'th', 'Han')
    """
    shared = next((script for script, languages in _SHARED.items() if code in languages), code)
    return "Han" if code == "zh" else shared


def language_code(value: object) -> str | None:
    """A language as two letters: "en", "en-GB", "EN" and "zh-cn" are read; None where it is not known here.

    >>> language_code("EN"), language_code("zh-cn"), language_code("nb"), language_code("xx")
    ('en', 'zh', 'no', None)
    """
    code = str(value).strip().lower().replace("_", "-").split("-")[0]
    code = {"nb": "no", "nn": "no", "fil": "tl", "iw": "he", "in": "id"}.get(code, code)
    return code if code in LANGUAGES else None


def _scores(text: str, script: str) -> dict[str, float]:
    """How much speaks for each language of a script: common words, those of one language alone twice."""
    words = _WORDS[script]
    scores: Counter[str] = Counter()
    lowered = text.lower()
    found = Counter(_WORD.findall(lowered.replace("\u2019", "'")))
    for word, times in found.items():
        codes = words.get(word.strip("'"), ())
        for code in codes:
            scores[code] += times * (2 if len(codes) == 1 else 1)
    letters = Counter(lowered)
    for code, (own, home) in _LETTERS.items():
        if home == script:
            scores[code] += sum(letters[letter] for letter in own)
    # A headline may do without common words; a longer text without any is a list of names, not English.
    if script == "Latin" and 2 < found.total() <= 30 and max(scores.values(), default=0) <= 2:
        scores["en"] += len(_ENGLISH_SPELLING.findall(lowered))
    return {code: score for code, score in scores.items() if score > 0}


def _script_of(character: str) -> str | None:
    block = bisect.bisect_right(_FIRSTS, ord(character)) - 1
    if block < 0 or ord(character) > _BLOCKS[block][1] or unicodedata.category(character)[0] not in "LM":
        return None
    return _BLOCKS[block][2]
