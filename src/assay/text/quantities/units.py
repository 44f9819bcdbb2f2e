"""Units of measurement as data: the spellings of each unit, its dimension and its size in the dimension's base unit.

Exact by definition (SI brochure; international yard and pound agreement of 1959). Years and months are no fixed number
of days and have a dimension of their own.
"""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct


class Unit(Struct, frozen=True):
    """A unit: quantities are comparable within its `dimension`; `sizes` are its possible sizes in the base unit.

    `other_dimensions`: those that it may also mean, in the same size; a cent is one of dollars, and of euros.
    """

    dimension: str
    sizes: tuple[Decimal, ...]
    other_dimensions: tuple[str, ...] = ()


PLAIN, SHARE, TIME, MONEY = "", "share", "time", "money:"
"""Dimensions of a number without a unit, of a percentage, of a time of day (in minutes); the prefix of currencies."""

_TABLE = """
    duration  0.001      ms millisecond milliseconds msec
    duration  1          s sec secs second seconds giay sekunde sekunden
    duration  60         min mins minute minutes phut minuten
    duration  3600       h hr hrs hour hours gio tieng stunde stunden heure heures hora horas ora ore
    duration  86400      d day days ngay hom tag tage tagen tages workday workdays werktag werktage werktagen
    duration  86400      arbeitstag arbeitstage arbeitstagen kalendertag kalendertage kalendertagen
    duration  86400      jour jours dias giorno giorni
    duration  604800     week weeks wk wks tuan woche wochen semaine semaines semana semanas settimana settimane
    duration  1209600    fortnight fortnights
    calendar  1          month months mo thang monat monate monaten monats mois meses mese mesi
    calendar  3          quarter-year quarter-years
    calendar  12         year years yr yrs nam jahr jahre jahren jahres ans anos anni
    calendar  120        decade decades
    calendar  1200       century centuries
    length    0.001      mm millimetre millimetres millimeter millimeters milimet
    length    0.01       cm centimetre centimetres centimeter centimeters xentimet
    length    1          m metre metres meter meters met
    length    1000       km kilometre kilometres kilometer kilometers cay_so kilomet
    length    0.0254     inch inches
    length    0.3048     ft foot feet
    length    0.9144     yd yard yards
    length    1609.344   mi mile miles dam
    area      1          m2 sqm sq_m square_metre square_metres square_meter square_meters met_vuong m_vuong
    area      1000000    km2 square_kilometre square_kilometres square_kilometer square_kilometers
    area      10000      ha hectare hectares hecta
    area      0.09290304 ft2 sq_ft sqft square_foot square_feet
    volume    0.001      ml mls millilitre millilitres milliliter milliliters mL
    volume    0.01       cl
    volume    1          l L litre litres liter liters lit
    volume    1000       m3 cubic_metre cubic_metres cubic_meter cubic_meters
    mass      0.001      mg milligram milligrams
    mass      1          g gram grams gramme grammes gam
    mass      1000       kg kgs kilo kilos kilogram kilograms ki-lo-gam can ky
    mass      1000000    t tonne tonnes tan
    mass      453.59237  lb lbs pound-mass
    mass      28.349523125 oz ounce ounces
    energy    1          Wh watt-hour watt-hours
    energy    1000       kWh kilowatt-hour kilowatt-hours kilowatt_hours
    energy    1000000    MWh megawatt-hour megawatt-hours megawatt_hours
    energy    1000000000 GWh
    power     0.001      mW milliwatt milliwatts
    power     1          W watt watts
    power     1000       kW kilowatt kilowatts
    power     1000000    MW megawatt megawatts
    power     1000000000 GW gigawatt gigawatts
    voltage   1          V volt volts
    voltage   0.001      mV millivolt millivolts
    current   1          A amp amps ampere amperes
    current   0.001      mA milliampere milliamperes
    frequency 1          Hz hertz
    frequency 1000       kHz
    frequency 1000000    MHz
    frequency 1000000000 GHz
    celsius   1          °C degrees_Celsius degree_Celsius degrees_celsius degree_celsius do_C do_c degrees_centigrade
    fahrenheit 1         °F degrees_Fahrenheit degree_Fahrenheit degrees_fahrenheit degree_fahrenheit do_F do_f
    angle     1          ° degree degrees do
    speed     1          km/h kmh kph kilometres_per_hour kilometers_per_hour km/gio km_per_hour
    speed     3.6        m/s metres_per_second meters_per_second
    speed     1.609344   mph miles_per_hour
    speed     1.852      knot knots kn
    flow      1          l/h L/h lph litres_per_hour liters_per_hour
    flow      60         l/min L/min lpm litres_per_minute liters_per_minute
    flow      0.06       ml/min mL/min millilitres_per_minute milliliters_per_minute
    flow      3600       l/s L/s litres_per_second liters_per_second
    flow      1000       m3/h m³/h cubic_metres_per_hour cubic_meters_per_hour
    flow      60000      m3/min m³/min cubic_metres_per_minute cubic_meters_per_minute
    sound     1          dB dBA decibel decibels
    pressure  1          Pa pascal pascals
    pressure  100        mbar hPa millibar millibars
    pressure  1000       kPa kilopascal kilopascals
    pressure  100000     bar bars
    pressure  6894.757293168 psi pounds_per_square_inch
    pressure  1000000    MPa megapascal megapascals
    torque    1          Nm newton_metre newton_metres newton_meter newton_meters
    rotation  1          rpm rev/min revolutions_per_minute
    data      1          bytes byte
    data      1000,1024  kB KB kilobyte kilobytes
    data      1000000,1048576 MB mb megabyte megabytes
    data      1000000000,1073741824 GB gb gigabyte gigabytes
    data      1000000000000,1099511627776 TB tb terabyte terabytes
    data      1000000000000000,1125899906842624 PB petabyte petabytes
    data      1000000000000000000,1152921504606846976 EB exabyte exabytes
    data      1024       KiB kibibyte kibibytes
    data      1048576    MiB mebibyte mebibytes
    data      1073741824 GiB gibibyte gibibytes
    data      1099511627776 TiB tebibyte tebibytes
    data      1125899906842624 PiB pebibyte pebibytes
    data      1152921504606846976 EiB exbibyte exbibytes
    data-rate 1          bps bit/s
    data-rate 1000       kbps kbit/s
    data-rate 1000000    Mbps Mbit/s Mb/s megabits_per_second
    data-rate 1000000000 Gbps Gbit/s Gb/s
    byte-rate 1000000    MB/s MBps megabytes_per_second
    byte-rate 1000000000 GB/s
    share     1          % percent per_cent phan_tram prozent pour_cent
    share     0.1        ‰ permille per_mille per_mil promille pour_mille phan_nghin
    points    1          percentage_points percentage_point pp diem_phan_tram
    money:USD 1          USD dollar dollars do_la $ us$
    money:USD,money:EUR,money:AUD,money:CAD,money:SGD 0.01 cent cents ¢
    money:EUR 0.01       eurocent eurocents euro_cent euro_cents centimos
    money:EUR,money:CHF 0.01 centime centimes
    money:GBP 0.01       p pence
    money:GBP,money:USD 0.01 penny pennies
    money:VND 0.1        hao
    money:VND 0.01       xu
    money:CHF 0.01       rappen
    money:CNY 0.1        jiao
    money:CNY 0.01       fen
    money:INR 0.01       paise paisa
    money:VND 1          VND vnd dong ₫ đ
    money:EUR 1          EUR euro euros €
    money:GBP 1          GBP pound pounds £
    money:JPY 1          JPY yen ¥
    money:NOK 1          NOK Norwegian_kroner Norwegian_krone Norwegian_crowns
    money:SEK 1          SEK Swedish_kronor Swedish_krona Swedish_crowns
    money:DKK 1          DKK Danish_kroner Danish_krone Danish_crowns
    money:CHF 1          CHF Swiss_francs Swiss_franc
    money:CNY 1          CNY RMB yuan renminbi
    money:INR 1          INR rupee rupees
    money:KRW 1          KRW
    money:AUD 1          AUD Australian_dollars
    money:CAD 1          CAD Canadian_dollars
    money:SGD 1          SGD Singapore_dollars
    characters 1         character characters chars ky_tu
    times     1          time times lan
    persons   1          person persons people nguoi
"""


def _read_table(table: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for line in table.strip().splitlines():
        dimensions, sizes, *spellings = line.split()
        dimension, *others = dimensions.split(",")
        unit = Unit(dimension, tuple(map(Decimal, sizes.split(","))), tuple(others))
        for spelling in spellings:
            units[spelling.replace("_", " ")] = unit
    return units


UNITS: dict[str, Unit] = _read_table(_TABLE)
"""The unit of each spelling. Symbols are read as written (MW is not mW), words in lower case without diacritics."""

NAMED_UNITS: dict[str, Unit] = {
    **{name: UNITS[name] for name in ("day", "week", "month", "year", "hour", "minute", "second", "millisecond", "%")},
    **{name: UNITS[name] for name in ("USD", "VND", "EUR", "GBP", "character", "time", "person", "mb", "gb", "tb")},
    "kb": UNITS["kB"],
    "ordinal": Unit("ordinal", (Decimal(1),)),
}
"""The units by the names that `assay.text.numbers` gives them."""
