//! Random models, and messages that are valid against them.

use dunnage_formats::Value;
use dunnage_schema::*;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// A model and a few valid messages.
pub fn model_and_messages() -> impl Strategy<Value = (Model, Vec<Value>)> {
    any_type(4).prop_flat_map(|root| {
        let messages = vec(value_of(&root), 1..4);
        (Just(Model::of_types(root, vec![tree()])), messages)
    })
}

/// The only definition: an object that may hold more of them.
fn tree() -> Type {
    let field = |name: &str, required, kind| Field {
        name: name.into(),
        required,
        kind,
        description: None,
        default: Annotation::default(),
        drop: Annotation::default(),
    };
    let inner = Type::Array(Array { items: Box::new(Type::Definition(0)), min: 0, max: None, series: false });
    Type::Object(Object {
        title: Annotation::default(),
        fields: vec![field("n", true, Type::Bool), field("inner", false, inner)],
        additional: None,
    })
}

fn tree_value(depth: u32) -> BoxedStrategy<Value> {
    let leaf = any::<bool>().prop_map(|n| Value::Map(vec![("n".into(), Value::Bool(n))]));
    if depth == 0 {
        return leaf.boxed();
    }
    let branch = (any::<bool>(), vec(tree_value(depth - 1), 0..3)).prop_map(|(n, inner)| {
        Value::Map(vec![("n".into(), Value::Bool(n)), ("inner".into(), Value::Array(inner))])
    });
    prop_oneof![leaf, branch].boxed()
}

/// A type with an assertion that always holds.
fn checked(kind: Type) -> Type {
    let assertions = vec![Assertion::AllOf(vec![kind.clone()])];
    Type::Checked(Box::new(Checked { kind, assertions }))
}

fn any_type(depth: u32) -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        1 => Just(Type::Any),
        1 => Just(Type::Null),
        2 => Just(Type::Bool),
        4 => integer().prop_map(Type::Integer),
        4 => decimal().prop_map(Type::Decimal),
        2 => Just(Type::Float(Float { min: None, max: None })),
        3 => text(),
        4 => number_text().prop_map(Type::NumberText),
        2 => numbers_text().prop_map(Type::NumbersText),
        2 => time_text().prop_map(Type::TimeText),
        3 => select(vec![
            vec![Value::from("D"), Value::from("not ok"), Value::from("")],
            vec![Value::Null, Value::U64(1), Value::F64(1.5)],
            vec![Value::from("0"), Value::from("1")],
            vec![Value::Bool(true), Value::Array(vec![])],
        ]).prop_map(Type::Enum),
        1 => Just(Type::Const(Value::from("fixed"))),
        1 => Just(Type::Definition(0)),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![
        4 => leaf,
        2 => (any_type(depth - 1), 0u32..3, proptest::option::of(0u32..4)).prop_map(|(items, min, more)| {
            Type::Array(Array { items: Box::new(items), min, max: more.map(|more| min + more), series: false })
        }),
        3 => object(depth),
        2 => any_type(depth - 1).prop_map(|inner| Type::Nullable(Box::new(inner))),
        2 => any_type(depth - 1).prop_map(checked),
        1 => vec(any_type(depth - 1), 2..4).prop_map(Type::Union),
        1 => (vec(any_type(depth - 1), 1..3), proptest::option::of(any_type(depth - 1))).prop_map(|(items, rest)| {
            let max = if rest.is_none() { Some(items.len() as u32) } else { None };
            Type::Tuple(Tuple { items, rest: rest.map(Box::new), min: 0, max })
        }),
    ]
    .boxed()
}

fn object(depth: u32) -> impl Strategy<Value = Type> {
    let field = (any_type(depth - 1), any::<bool>(), proptest::option::of("[a-z °%\n]{0,12}"));
    let additional = prop_oneof![
        3 => Just(None),
        1 => Just(Some(Box::new(Type::Any))),
        1 => Just(Some(Box::new(Type::Bool)))
    ];
    (btree_map(key(), field, 0..12), additional).prop_map(|(fields, additional)| {
        let field = |(name, (kind, required, description))| {
            let (default, drop) = (Annotation::default(), Annotation::default());
            Field { name, required, kind, description, default, drop }
        };
        Type::Object(Object {
            title: Annotation::default(),
            fields: fields.into_iter().map(field).collect(),
            additional,
        })
    })
}

/// Keys that collide with each other or with keywords of the definition languages, or have no letters.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[a-c]{1,2}([-_][a-b])?",
        1 => "[a-bA-B_\\-.é0\"\\\\ ]{0,4}",
        1 => select(vec!["end", "list", "message", "additional", "value", "optional", "record", "null", "string"])
            .prop_map(str::to_owned),
    ]
}

fn integer() -> impl Strategy<Value = Integer> {
    let full = Integer {
        min: i64::MIN.into(),
        max: u64::MAX.into(),
        step: 1,
        usual: None,
        every: None,
        changes: None,
    };
    let unsigned = Integer { min: 0, max: u64::MAX.into(), step: 1, usual: None, every: None, changes: None };
    let stepped = (any::<i32>(), 0i128..1000, 1u64..50).prop_map(|(min, count, step)| {
        let min = i128::from(min) * i128::from(step);
        Integer { min, max: min + count * i128::from(step), step, usual: None, every: None, changes: None }
    });
    prop_oneof![Just(full), Just(unsigned), stepped]
}

fn decimal() -> impl Strategy<Value = Decimal> {
    let bounded =
        (0u32..7, 1u64..6, -100_000i128..100_000, 0i128..1_000_000).prop_map(|(places, step, min, count)| {
            let min = min * i128::from(step);
            Decimal {
                places,
                step,
                min,
                max: min + count * i128::from(step),
                usual: None,
                quantum: None,
                round: false,
                changes: None,
            }
        });
    let open = (0u32..19).prop_map(|places| Decimal {
        places,
        step: 1,
        min: i64::MIN.into(),
        max: i64::MAX.into(),
        usual: None,
        quantum: None,
        round: false,
        changes: None,
    });
    prop_oneof![3 => bounded, 1 => open]
}

fn number_text() -> impl Strategy<Value = NumberText> {
    (decimal(), 1u32..4).prop_map(|(number, digits)| NumberText { number, digits })
}

fn numbers_text() -> impl Strategy<Value = NumbersText> {
    (select(vec![" ", ", ", "/"]), vec(number_text(), 1..4)).prop_map(|(separator, parts)| {
        let name = |(i, part): (usize, NumberText)| (["x", "y", "z"][i].to_owned(), part);
        NumbersText { separator: separator.into(), parts: parts.into_iter().enumerate().map(name).collect() }
    })
}

fn time_text() -> impl Strategy<Value = TimeText> {
    use TimePart::*;
    let gap = || Literal("-".into());
    let notations = vec![
        (vec![Day, Month, Year2, gap(), Hour, Minute, Second, Literal(".".into()), Fraction], 2),
        (vec![Year4, gap(), Month, gap(), Day, Literal("T".into()), Hour, Minute, Second], 0),
        (vec![Year4, Month, Day, Hour, Minute, Second, Fraction], 9),
    ];
    (select(notations), 946_684_800i64..1_577_836_800).prop_map(|((notation, places), epoch)| TimeText {
        notation,
        epoch,
        places,
        until: None,
        every: None,
    })
}

fn text() -> impl Strategy<Value = Type> {
    let patterns = vec![
        "^[0-9]{5}$",
        "^[1-9][0-9]{0,8}$",
        "^0[0-9]{2,3}$",
        "^[A-C]{2}[0-9]{3}$",
        "^[0-9]{19}$",
        "^[05]{3}$",
    ];
    let plain = Text::default();
    let patterned = select(patterns).prop_map(|source| {
        let pattern = Some(Pattern::new(source).unwrap());
        Type::Text(Text { pattern, ..Text::default() })
    });
    prop_oneof![Just(Type::Text(plain)), patterned]
}

/// A value that the type allows.
fn value_of(kind: &Type) -> BoxedStrategy<Value> {
    match kind {
        Type::Any => anything(3),
        Type::Null => Just(Value::Null).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::Integer(n) => {
            let (min, step) = (n.min, i128::from(n.step));
            spread(0, (n.max - n.min) / step).prop_map(move |k| whole(min + k * step)).boxed()
        }
        Type::Decimal(n) => {
            let n = n.clone();
            // Rounding to binary64 may move a number out of the range.
            scaled(&n)
                .prop_filter_map("in range", move |k| Some(n.value(k)).filter(|v| n.scaled(v).is_some()))
                .boxed()
        }
        Type::Float(_) => any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::F64).boxed(),
        Type::Text(text) => match &text.pattern {
            Some(pattern) => proptest::string::string_regex(&pattern.source[1..pattern.source.len() - 1])
                .unwrap()
                .prop_map(Value::Text)
                .boxed(),
            None => ".{0,12}".prop_map(Value::Text).boxed(),
        },
        Type::NumberText(text) => {
            let text = text.clone();
            scaled(&text.number).prop_map(move |n| Value::Text(text.write(n))).boxed()
        }
        Type::NumbersText(text) => {
            let text = text.clone();
            let numbers: Vec<_> = text.parts.iter().map(|(_, part)| scaled(&part.number)).collect();
            numbers.prop_map(move |n| Value::Text(text.write(&n))).boxed()
        }
        Type::TimeText(text) => {
            let text = text.clone();
            let (first, last) = text.range();
            spread(first, last).prop_map(move |n| Value::Text(text.write(n))).boxed()
        }
        Type::Enum(values) => select(values.clone()).boxed(),
        Type::Const(value) => Just(value.clone()).boxed(),
        Type::Array(array) => {
            let (min, max) = (array.min as usize, array.max.map_or(array.min + 4, |max| max) as usize);
            vec(value_of(&array.items), min..=max).prop_map(Value::Array).boxed()
        }
        Type::Nullable(inner) => prop_oneof![1 => Just(Value::Null), 3 => value_of(inner)].boxed(),
        Type::Object(object) => object_value(object),
        Type::Union(kinds) => proptest::strategy::Union::new(kinds.iter().map(value_of)).boxed(),
        Type::Tuple(tuple) => {
            let rest = match &tuple.rest {
                Some(rest) => vec(value_of(rest), 0..3).boxed(),
                None => Just(Vec::new()).boxed(),
            };
            let items: Vec<_> = tuple.items.iter().map(value_of).collect();
            (items, rest, any::<bool>())
                .prop_map(|(items, rest, all)| {
                    // A message may omit elements at the end of the tuple.
                    let items: Vec<_> = if all {
                        items.into_iter().chain(rest).collect()
                    } else {
                        items.into_iter().take(1).collect()
                    };
                    Value::Array(items)
                })
                .boxed()
        }
        Type::Definition(_) => tree_value(2),
        Type::Checked(checked) => value_of(&checked.kind),
        Type::Known(_, _) => unreachable!("not generated here: {kind:?}"),
    }
}

fn object_value(object: &Object) -> BoxedStrategy<Value> {
    let entries: Vec<BoxedStrategy<Option<(String, Value)>>> = object
        .fields
        .iter()
        .map(|field| {
            let name = field.name.clone();
            let present = value_of(&field.kind).prop_map(move |value| Some((name.clone(), value)));
            if field.required { present.boxed() } else { prop_oneof![Just(None), present].boxed() }
        })
        .collect();
    let others = match &object.additional {
        Some(kind) => btree_map("extra[0-9]", value_of(kind), 0..3).boxed(),
        None => Just(Default::default()).boxed(),
    };
    (entries, others)
        .prop_map(|(entries, others)| Value::Map(entries.into_iter().flatten().chain(others).collect()))
        .boxed()
}

fn anything(depth: u32) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(Value::U64),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::F64),
        ".{0,5}".prop_map(Value::Text),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![
        3 => leaf,
        1 => vec(anything(depth - 1), 0..3).prop_map(Value::Array),
        1 => btree_map("[a-z]{0,3}", anything(depth - 1), 0..3).prop_map(|map| Value::Map(map.into_iter().collect())),
    ]
    .boxed()
}

fn scaled(number: &Decimal) -> BoxedStrategy<i128> {
    let (min, step) = (number.min, i128::from(number.step));
    spread(0, (number.max - number.min) / step).prop_map(move |k| min + k * step).boxed()
}

/// Numbers of a range, often its ends.
fn spread(min: i128, max: i128) -> BoxedStrategy<i128> {
    prop_oneof![2 => Just(min), 2 => Just(max), 6 => min..=max].boxed()
}

fn whole(n: i128) -> Value {
    u64::try_from(n).map(Value::U64).unwrap_or_else(|_| Value::I64(i64::try_from(n).unwrap()))
}
