//! The limits that administrators set for a tenant, and how near a tenant is to them. None is set unless
//! somebody sets it.

/// From this share of a limit on, in percent, a tenant is near it.
pub const NEAR_PERCENT: u64 = 80;
/// The largest rate that can be set: a hundred thousand a second, beyond what one node takes.
pub const PER_MINUTE_MAX: u64 = 6_000_000;
/// The largest amount that can be set: as much as a database counts.
pub const AMOUNT_MAX: u64 = i64::MAX as u64;

/// What can be limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limited {
    /// Deliveries of a minute, over all endpoints, at each node.
    DeliveriesPerMinute,
    /// Deliveries of a minute to any one endpoint, at each node.
    EndpointDeliveriesPerMinute,
    /// Events that are held.
    Events,
    /// Bytes of sealed payloads that are held.
    PayloadBytes,
    /// Endpoints.
    Endpoints,
    /// Consumers.
    Consumers,
    /// Members, and invitations that may make some.
    Members,
}

impl Limited {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::DeliveriesPerMinute,
        Self::EndpointDeliveriesPerMinute,
        Self::Events,
        Self::PayloadBytes,
        Self::Endpoints,
        Self::Consumers,
        Self::Members,
    ];

    /// The word in forms and in the audit log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DeliveriesPerMinute => "deliveries_per_minute",
            Self::EndpointDeliveriesPerMinute => "endpoint_deliveries_per_minute",
            Self::Events => "events",
            Self::PayloadBytes => "payload_bytes",
            Self::Endpoints => "endpoints",
            Self::Consumers => "consumers",
            Self::Members => "members",
        }
    }

    /// The largest value that can be set.
    pub const fn value_max(self) -> u64 {
        match self {
            Self::DeliveriesPerMinute | Self::EndpointDeliveriesPerMinute => PER_MINUTE_MAX,
            _ => AMOUNT_MAX,
        }
    }

    /// The smallest value that can be set. A rate of none would be a suspension without its name.
    pub const fn value_min(self) -> u64 {
        match self {
            Self::DeliveriesPerMinute | Self::EndpointDeliveriesPerMinute | Self::Members => 1,
            _ => 0,
        }
    }

    /// Whether a tenant that has reached it takes no further events.
    pub const fn stops_receiving(self) -> bool {
        matches!(self, Self::Events | Self::PayloadBytes)
    }
}

/// A value for each thing that can be limited: limits, or what is used of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerLimit([Option<u64>; Limited::ALL.len()]);

impl PerLimit {
    /// The value; `None` where none is set or known.
    pub const fn get(&self, what: Limited) -> Option<u64> {
        self.0[what as usize]
    }

    /// The same with another value.
    #[must_use]
    pub const fn with(mut self, what: Limited, value: Option<u64>) -> Self {
        self.0[what as usize] = value;
        self
    }

    /// Whether no value is set.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

/// The limits of a tenant. `None` is no limit.
pub type TenantLimits = PerLimit;

/// How much of one limit is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// What is limited.
    pub what: Limited,
    /// How much is used.
    pub used: u64,
    /// How much may be.
    pub limit: u64,
}

impl Measure {
    /// Whether nothing more goes.
    pub const fn is_reached(&self) -> bool {
        self.used >= self.limit
    }

    /// Whether it is reached soon, or is.
    pub const fn is_near(&self) -> bool {
        self.is_reached() || self.used as u128 * 100 >= self.limit as u128 * NEAR_PERCENT as u128
    }
}

/// What is used of each limit that is set, as far as it is known.
pub fn measures(limits: &TenantLimits, used: &PerLimit) -> Vec<Measure> {
    let measure = |what: Limited| Some(Measure { what, limit: limits.get(what)?, used: used.get(what)? });
    Limited::ALL.into_iter().filter_map(measure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_place_and_a_word_of_its_own() {
        let mut values = PerLimit::default();
        assert!(values.is_empty());
        for (number, what) in (0..).zip(Limited::ALL) {
            values = values.with(what, Some(number));
        }
        for (number, what) in (0..).zip(Limited::ALL) {
            assert_eq!(values.get(what), Some(number));
            assert!(what.value_min() < what.value_max());
        }
        let words: std::collections::BTreeSet<_> = Limited::ALL.map(Limited::as_str).into();
        assert_eq!(words.len(), Limited::ALL.len());
    }

    #[test]
    fn a_tenant_is_near_from_four_fifths_on_and_there_at_the_limit() {
        let measure = |used, limit| Measure { what: Limited::Events, used, limit };
        for (used, limit, near, reached) in [
            (0, 100, false, false),
            (79, 100, false, false),
            (80, 100, true, false),
            (99, 100, true, false),
            (100, 100, true, true),
            (0, 0, true, true),
            (u64::MAX, u64::MAX, true, true),
            (u64::MAX / 2, u64::MAX, false, false),
        ] {
            let measure = measure(used, limit);
            assert_eq!((measure.is_near(), measure.is_reached()), (near, reached), "{used} of {limit}");
        }
    }

    #[test]
    fn only_what_is_limited_and_known_is_measured() {
        let limits = TenantLimits::default().with(Limited::Events, Some(10)).with(Limited::Members, Some(5));
        let used = PerLimit::default().with(Limited::Events, Some(7)).with(Limited::Endpoints, Some(3));
        assert_eq!(measures(&limits, &used), [Measure { what: Limited::Events, used: 7, limit: 10 }]);
    }
}
