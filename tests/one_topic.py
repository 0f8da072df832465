"""Talks that keep to one thing each, a turn a line."""

APPLES = """I bought a bag of apples at the market.
Which apples did you get at the market?
Mostly Elstar apples, and a few sour Granny Smith apples.
Granny Smith apples are the best apples for a pie.
Then I will bake an apple pie with the sour apples.
Put some cinnamon on the apples before you bake the pie.
Should I peel the apples for the pie?
Yes, peel the apples and cut them into thin slices.
The apple pie is in the oven and it smells good.
Eat the apple pie warm, with cream.""".splitlines()
BRAKES = """The car's brakes squeal whenever I stop at a light.
Worn brake pads, the garage should look at the car.
The garage wants four hundred euros for new brake discs.
That is a fair price for discs and pads on that car.
I will bring the car in on Thursday then.
Ask them to check the brake fluid as well.""".splitlines()
KINDS = [
    "Elstar",
    "Jonagold",
    "Boskoop",
    "Braeburn",
    "Gala",
    "Fuji",
    "Cox",
    "Idared",
    "Topaz",
    "Pinova",
]
ORCHARD = [
    line.format(kind)
    for kind in KINDS
    for line in (
        "Do the {} apple trees in the orchard bear apples this year?",
        "The {} apple trees in the orchard bear many apples.",
        "We pick the {} apples in the orchard in October.",
    )
]
