"""Words for generated text: a base of English words, and rarer ones joined from them.

Frequencies follow the law of Zipf and Mandelbrot, p(rank) ∝ 1 / (rank + q)^s: a few words stand in
several per cent of all passages, most stand in one or two.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_NOUNS = """
water time house door day letter key table morning garden river bread light book window kitchen road
money night paper week stove bridge phone box boat report list number sensor meeting pump train cup
battery cable shelf budget coffee question shop office chapter note picture bed ticket map plan roof
shoe form coat file page answer song wall bag lamp stone tree bicycle bill station film card reason
rain screw street dog lock hour pipe printer server backup script log branch query index test parser
release folder queue token error server password account update schedule draft review deadline
contract invoice lease tax receipt salary bank loan rent deposit insurance claim permit visa passport
doctor dentist nurse clinic medicine tablet fever tooth knee shoulder blood sleep dream breath cough
allergy diet pulse therapy appointment mother father sister brother uncle aunt cousin neighbour friend
teacher pupil class lesson exam thesis lecture library museum concert theatre ticket festival wedding
birthday funeral party guest gift candle cake dinner lunch breakfast soup salad cheese butter egg flour
sugar salt pepper garlic onion tomato potato carrot bean apple pear plum cherry lemon grape honey jam
tea kettle pan pot bowl plate fork knife spoon glass bottle jar oven fridge freezer sink tap bath towel
soap mirror comb brush carpet curtain chair sofa desk drawer cupboard ladder bucket broom hammer nail
saw drill wire fuse switch plug socket bulb motor wheel tyre brake chain saddle engine clutch gear valve
hose tank gauge meter scale clock watch alarm bell whistle camera lens tripod screen keyboard mouse
speaker microphone radio antenna router modem disk driver kernel compiler module package library table
column row record field cache thread process signal buffer socket stream packet port address domain
certificate cluster container image volume network firewall proxy gateway endpoint request response
header payload schema migration rollback deploy patch commit merge conflict issue ticket milestone
roadmap sprint backlog demo prototype sketch diagram chart graph figure model weight vector matrix
sample label score threshold metric baseline experiment result trend average median variance outlier
noise filter curve slope peak valley hill mountain lake pond marsh meadow field forest path gate fence
hedge ditch canal dike sluice harbour quay pier anchor mast sail rope knot net oar ferry tide wave storm
wind cloud fog frost snow ice thaw flood drought heat sun moon star sky horizon dawn dusk season spring
autumn winter summer calendar month year century history archive ledger diary journal notebook pencil
pen ink stamp envelope parcel postcard newspaper article column editor author poem novel essay proof
theorem lemma axiom argument premise fallacy paradox theory doctrine virtue duty promise trust debt
stake steward council mayor vote ballot party law court judge witness verdict statute treaty border
war peace soldier uniform medal flag anthem temple church monk prayer bell choir organ violin cello
piano flute drum guitar melody chord rhythm tempo rehearsal stage actor script mask puppet circus
carnival game chess puzzle dice card ball racket goal match league referee coach runner race finish
lap pool lane rower paddle canoe tent stove lantern compass trail summit cabin hut campfire picnic
bird heron swallow sparrow crow gull owl goose duck swan cat kitten puppy horse goat sheep cow pig hen
fish eel trout carp bee wasp ant moth spider snail frog toad newt hedgehog fox deer hare mole seed bulb
root stem leaf bud petal thorn moss fern ivy willow oak birch elm pine compost soil spade rake shears
greenhouse trellis orchard vineyard barn stable mill bakery brewery dairy market stall counter till
customer supplier courier driver passenger conductor pilot captain sailor mechanic plumber electrician
carpenter mason painter tailor cobbler baker butcher grocer barber gardener librarian archivist curator
"""
_VERBS = """
moved checked opened finished asked wanted used needed started changed called helped answered closed
fixed cleaned watched cooked carried painted planted measured counted ordered returned borrowed dropped
repaired replaced printed posted signed filed sorted tested logged copied renamed deleted restored
deployed merged reviewed rejected approved delayed cancelled booked planned scheduled postponed promised
explained mentioned described compared doubted trusted blamed praised thanked invited visited followed
passed crossed reached entered missed saved wasted earned spent collected delivered packed wrapped
labelled stored emptied filled washed dried ironed mended patched stitched glued nailed screwed drilled
sanded polished oiled charged plugged unplugged switched tuned calibrated sampled recorded plotted
averaged estimated predicted guessed corrected rewrote shortened translated quoted cited summarised
discussed argued denied admitted noticed ignored remembered recalled recognised regretted enjoyed
dreaded avoided attempted repeated practised rehearsed performed attended applauded photographed
sketched carved folded unfolded stacked balanced weighed sliced chopped peeled boiled baked roasted
grilled salted tasted poured stirred mixed kneaded watered weeded pruned harvested raked dug fenced
locked unlocked knocked blocked cleared swept shovelled heated cooled ventilated insulated sealed
drained flooded leaked soaked pumped lifted lowered pulled pushed dragged rolled tied untied anchored
steered rowed sailed towed parked reversed overtook inspected audited invoiced refunded insured
"""
_ADJECTIVES = """
good new old small long late early open warm cold dry wet quiet loud heavy light short broken clean
dirty empty full cheap expensive slow quick strong weak soft hard bright dark blue green red yellow
white black grey brown wooden rusty leaky noisy narrow wide deep shallow steep flat round square sharp
blunt thick thin tight loose fresh stale sweet sour bitter salty ripe raw frozen hot mild damp foggy
windy sunny cloudy stormy calm busy idle tired awake hungry thirsty ill healthy nervous patient careful
careless honest stubborn generous polite rude curious bored proud shy brave afraid lonely famous strange
familiar foreign local public private secret legal annual weekly daily monthly final recent ancient
modern temporary permanent partial complete missing spare double single second third last next main
minor major critical urgent optional mandatory manual automatic digital analogue wireless solar electric
hydraulic magnetic acoustic optical nautical botanical medical financial historical theoretical
practical statistical logical musical literary municipal regional coastal rural urban northern southern
eastern western
"""
_ADVERBS = """
again twice slowly quickly quietly carefully finally already usually rarely often yesterday today
tonight tomorrow early late together alone outside inside upstairs downstairs abroad online properly
badly almost nearly hardly clearly apparently probably certainly suddenly gradually eventually briefly
"""
_OFFSET = 18
"""q of the law: the commonest noun stands in 8 to 12 % of passages, as in conversations and notes."""
_EXPONENT = 1.2
"""s: two thirds of the nouns in a text are base words, the rest is the long tail."""


@dataclass(frozen=True, slots=True)
class Words:
    """Words by falling frequency, with the cumulative weights that ``random.choices`` takes."""

    words: tuple[str, ...]
    cumulative: tuple[float, ...]

    def pick(self, rng: random.Random) -> str:
        """One word by its frequency."""
        return rng.choices(self.words, cum_weights=self.cumulative)[0]


def ranked(words: Sequence[str], offset: float) -> Words:
    """Give words the weights of their ranks.

    Args:
        words: The commonest first.
        offset: q; weights are 1 / (rank + q)^1.2, rank from 1.

    Example:
        >>> [round(weight, 3) for weight in ranked(["a", "b"], 1).cumulative]
        [0.435, 0.703]
    """
    weights = ((rank + offset) ** -_EXPONENT for rank in range(1, len(words) + 1))
    return Words(tuple(words), tuple(itertools.accumulate(weights)))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words by what they do in a sentence."""

    nouns: Words
    verbs: Words
    adjectives: Words
    adverbs: Words


def vocabulary(rng: random.Random) -> Vocabulary:
    """About 45,000 words: the base ones in a random order of rank, then those joined from them."""
    nouns, verbs = _shuffled(_NOUNS, rng), _shuffled(_VERBS, rng)
    adjectives, adverbs = _shuffled(_ADJECTIVES, rng), _shuffled(_ADVERBS, rng)
    short = [noun for noun in nouns if len(noun) <= 6]
    compounds = [a + b for a in short[:260] for b in short[:160] if a != b]
    rng.shuffle(compounds)
    marked = [verb_prefix + verb for verb_prefix in ("re", "over", "out", "mis") for verb in verbs]
    shaded = [noun + ending for noun in short for ending in ("less", "like", "bound", "proof")]
    rng.shuffle(marked)
    rng.shuffle(shaded)
    return Vocabulary(
        ranked(nouns + compounds, _OFFSET),
        ranked(verbs + marked, _OFFSET),
        ranked(adjectives + shaded, _OFFSET),
        ranked(adverbs, _OFFSET),
    )


def _shuffled(text: str, rng: random.Random) -> list[str]:
    words = sorted(set(text.split()))
    rng.shuffle(words)
    return words
