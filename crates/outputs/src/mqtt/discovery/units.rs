//! Units as Home Assistant knows them, and the classes of devices that they imply.

/// Units of a schema (left), as Home Assistant writes them, with the class that they mean
/// (home-assistant.io/integrations/sensor, "Device class"). Left out are units of several classes, such as `%`, `m/s`, `mm`, `dB` and `L`.
const CLASSES: &[(&[&str], &str, &str)] = &[
    (&["°C", "℃", "Cel", "degC"], "°C", "temperature"),
    (&["°F", "℉", "degF", "[degF]"], "°F", "temperature"),
    (&["K"], "K", "temperature"),
    (&["%RH"], "%", "humidity"),
    (&["Pa"], "Pa", "pressure"),
    (&["hPa"], "hPa", "pressure"),
    (&["kPa"], "kPa", "pressure"),
    (&["bar"], "bar", "pressure"),
    (&["mbar"], "mbar", "pressure"),
    (&["V"], "V", "voltage"),
    (&["mV"], "mV", "voltage"),
    (&["A"], "A", "current"),
    (&["mA"], "mA", "current"),
    (&["W"], "W", "power"),
    (&["kW"], "kW", "power"),
    (&["Wh"], "Wh", "energy"),
    (&["kWh"], "kWh", "energy"),
    (&["MWh"], "MWh", "energy"),
    (&["VA"], "VA", "apparent_power"),
    (&["var"], "var", "reactive_power"),
    (&["Hz"], "Hz", "frequency"),
    (&["kHz"], "kHz", "frequency"),
    (&["lx", "lux"], "lx", "illuminance"),
    (&["W/m²", "W/m2"], "W/m²", "irradiance"),
    (&["dBm"], "dBm", "signal_strength"),
    (&["km"], "km", "distance"),
    (&["m"], "m", "distance"),
    (&["g"], "g", "weight"),
    (&["kg"], "kg", "weight"),
    (&["s"], "s", "duration"),
    (&["min"], "min", "duration"),
    (&["h"], "h", "duration"),
];

/// Returns Home Assistant's text for a unit, and the class of the sensors that have it, if there is only one.
pub fn unit(unit: &str) -> (&str, Option<&'static str>) {
    let known = CLASSES.iter().find(|(texts, _, _)| texts.contains(&unit));
    known.map_or((unit, None), |(_, text, class)| (*text, Some(*class)))
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn a_unit_has_a_class_only_if_it_is_the_only_one() {
        assert_eq!(unit("degC"), ("°C", Some("temperature")));
        assert_eq!(unit("%RH"), ("%", Some("humidity")));
        for other in ["%", "m/s", "furlong", ""] {
            assert_eq!(unit(other), (other, None));
        }
    }
}
