//! Which campaigns does a benchmark of strategies run? A series is all that differ only in their seed.

use std::str::FromStr;

/// Written `CRITERION[+CRITERION]:STRATEGY:on|off:SEEDS:EXECUTIONS[:unpruned]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// As it was written.
    pub(crate) text: String,
    pub(crate) criterion: String,
    /// Goals of this criterion lead the search beside the one that is sought, where each goal has its own campaigns.
    pub(crate) led_by: Option<String>,
    pub(crate) strategy: String,
    pub(crate) filter: bool,
    /// Seeds 1 up to this one.
    pub(crate) n_seeds: u64,
    pub(crate) max_executions: u64,
    pub(crate) prunes: bool,
}

impl FromStr for Series {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unpruned = text.strip_suffix(":unpruned");
        let parts: Vec<&str> = unpruned.unwrap_or(text).split(':').collect();
        let [criteria, strategy, filter, seeds, executions] = parts[..] else {
            return Err(format!(
                "'{text}' is not CRITERION[+CRITERION]:STRATEGY:on|off:SEEDS:EXECUTIONS[:unpruned]"
            ));
        };
        let filter = match filter {
            "on" => true,
            "off" => false,
            _ => return Err(format!("filtering is on or off, not '{filter}'")),
        };
        let (criterion, led_by) = match criteria.split_once('+') {
            Some((criterion, led_by)) => (criterion, Some(led_by.to_owned())),
            None => (criteria, None),
        };
        let number = |text: &str| text.parse().map_err(|_| format!("'{text}' is no number"));
        Ok(Self {
            text: text.to_owned(),
            criterion: criterion.to_owned(),
            led_by,
            strategy: strategy.to_owned(),
            filter,
            n_seeds: number(seeds)?,
            max_executions: number(executions)?,
            prunes: unpruned.is_none(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_names_everything_but_the_seed() {
        let text = "mcdc:pps+fitness:off:30:100";
        let expected = Series {
            text: text.to_owned(),
            criterion: "mcdc".to_owned(),
            led_by: None,
            strategy: "pps+fitness".to_owned(),
            filter: false,
            n_seeds: 30,
            max_executions: 100,
            prunes: true,
        };
        assert_eq!(text.parse(), Ok(expected));
    }

    #[test]
    fn another_criterion_may_lead_and_pruning_be_switched_off() {
        let series: Series = "def-use+branch:sdgs:on:1:9:unpruned".parse().expect("well formed");
        assert_eq!((series.criterion.as_str(), series.led_by.as_deref()), ("def-use", Some("branch")));
        assert!(!series.prunes);
    }

    #[test]
    fn what_is_no_series_is_refused() {
        for wrong in [
            "branch:dfs:on:3",
            "branch:dfs:maybe:3:100",
            "branch:dfs:on:few:100",
            "branch:dfs:on:3:100:pruned",
            "branch:dfs:on:3:100:unpruned:9",
        ] {
            assert!(wrong.parse::<Series>().is_err(), "{wrong}");
        }
    }
}
