//! Expressions: which are decisions, and what their conditions are.
//!
//! The condition of `if`, `while`, `do`, `for` and `?:` is a decision whatever it is; elsewhere an expression is one when
//! its top operator is `&&`, `||` or `!`, or compares two boolean operands one of which is such an expression. A decision
//! is split at those operators, at `?:` with boolean arms and at `==`, `!=`, `^` of booleans. Parentheses, `__extension__`,
//! `__builtin_expect`, conversions of booleans and the left side of a comma are seen through. What is left is a
//! condition; a decision inside a condition is a decision of its own.
//!
//! Nothing is marked that is not evaluated at run time: constants, operands of `sizeof` and its kin, and arms that
//! `_Generic` or `__builtin_choose_expr` did not select.

use std::cmp::Ordering;

use model::{ConditionId, DecisionKind, Shape};

use crate::clang::{BinaryOperator, Cursor, Node, TypeNode, UnaryOperator};

use super::draft::{DraftDecision, DraftLeaf};
use super::walk::Walk;

/// An expression that libclang has no name for.
enum Unexposed<'u> {
    /// A conversion the source does not show.
    Conversion(Cursor<'u>),
    /// GNU `a ?: b`.
    Elvis {
        common: Cursor<'u>,
        otherwise: Cursor<'u>,
    },
    /// `__builtin_choose_expr`: the arm that was chosen.
    Chosen(Option<Cursor<'u>>),
    /// `offsetof` and the like.
    Unevaluated,
    Other,
}

/// What is still to be walked once a decision has its shape.
#[derive(Default)]
struct Pending<'u> {
    /// Conditions, by index into the draft's leaves from the first of this decision.
    leaves: Vec<Cursor<'u>>,
    /// Expressions evaluated for their effect, such as the left side of a comma.
    effects: Vec<Cursor<'u>>,
    /// Conditions that cannot be marked.
    unmarkable: Vec<Cursor<'u>>,
}

impl Walk<'_> {
    /// Walks an expression whose value is used as it is.
    pub(super) fn expression(&mut self, cursor: Cursor<'_>) {
        match cursor.node() {
            Node::Unary(UnaryOperator::Not) if cursor.ty().is_scalar() => {
                self.decision(cursor, DecisionKind::Value)
            }
            Node::Binary(BinaryOperator::And | BinaryOperator::Or) => {
                self.decision(cursor, DecisionKind::Value)
            }
            Node::Binary(BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::ExclusiveOr)
                if self.joins_decisions(cursor) =>
            {
                self.decision(cursor, DecisionKind::Value)
            }
            Node::Conditional => {
                let children = cursor.children();
                if let [condition, then, otherwise] = children.as_slice() {
                    self.decision(*condition, DecisionKind::Ternary);
                    self.expression(*then);
                    self.expression(*otherwise);
                }
            }
            Node::StatementExpression => {
                for child in cursor.children() {
                    self.statement(child);
                }
            }
            // The operand of `sizeof` runs only when its size is not a constant.
            Node::SizeOf if cursor.evaluate().is_some() => {}
            // libclang does not say which arm was selected.
            Node::Generic => self.leave_unmarked(cursor),
            Node::Call if self.is_unevaluated_call(cursor) => {}
            Node::UnexposedExpression => match self.unexposed(cursor) {
                Unexposed::Conversion(child) => self.expression(child),
                Unexposed::Elvis { common, otherwise } => {
                    let (first, last) = cursor.lines();
                    let what = self.spelling.of(first, last);
                    self.draft.unmarked(self.span(first), what);
                    self.expression(common);
                    self.expression(otherwise);
                }
                Unexposed::Chosen(arm) => arm.into_iter().for_each(|arm| self.expression(arm)),
                Unexposed::Unevaluated => {}
                Unexposed::Other => self.expressions(cursor),
            },
            Node::Literal | Node::Reference | Node::Block => {}
            _ => self.expressions(cursor),
        }
    }

    /// Walks an expression that is a decision.
    pub(super) fn decision(&mut self, cursor: Cursor<'_>, kind: DecisionKind) {
        let lines = cursor.lines();
        if !self.seen.insert(lines) {
            return;
        }
        let mut pending = Pending::default();
        let shape = self.shape(cursor, &mut pending);
        for effect in &pending.effects {
            self.expression(*effect);
        }
        if pending.unmarkable.is_empty() {
            self.record(lines, kind, shape, &pending.leaves);
        } else {
            for condition in &pending.unmarkable {
                let (first, last) = condition.lines();
                let what = self.spelling.of(first, last);
                self.draft.unmarked(self.span(first), what);
                self.expressions(*condition);
            }
        }
        for leaf in &pending.leaves {
            self.expression(*leaf);
        }
    }

    /// Keeps a decision that has a condition; one made of constants has no outcomes to cover.
    fn record(&mut self, lines: (u32, u32), kind: DecisionKind, mut shape: Shape, leaves: &[Cursor<'_>]) {
        if leaves.is_empty() {
            return;
        }
        let first_leaf = self.draft.leaves.len();
        super::draft::Renumber::renumber(&mut shape, &|index| first_leaf + index);
        let decision = self.draft.decisions.len();
        for leaf in leaves {
            let lines = leaf.lines();
            let text = self.spelling.of(lines.0, lines.1);
            let compares = self.compared(*leaf);
            self.draft.leaves.push(DraftLeaf { decision, lines, span: self.span(lines.0), text, compares });
        }
        self.draft.decisions.push(DraftDecision {
            function: self.function.clone(),
            kind,
            shape,
            span: self.span(lines.0),
            text: self.spelling.of(lines.0, lines.1),
        });
    }

    /// Splits a boolean expression; leaves are numbered from 0.
    fn shape<'u>(&mut self, cursor: Cursor<'u>, pending: &mut Pending<'u>) -> Shape {
        let inner = self.peel(cursor);
        let children = inner.children();
        match (inner.node(), children.as_slice()) {
            (Node::Unary(UnaryOperator::Not), [operand]) if inner.ty().is_scalar() => {
                Shape::Not(Box::new(self.shape(*operand, pending)))
            }
            (Node::Binary(BinaryOperator::Comma), [left, right]) => {
                pending.effects.push(*left);
                self.shape(*right, pending)
            }
            (Node::Binary(operator), [left, right]) => self.binary(inner, operator, *left, *right, pending),
            (Node::Conditional, [condition, then, otherwise])
                if self.is_boolean_arm(*then) && self.is_boolean_arm(*otherwise) =>
            {
                let condition = Box::new(self.shape(*condition, pending));
                let then = Box::new(self.shape(*then, pending));
                let otherwise = Box::new(self.shape(*otherwise, pending));
                Shape::Ternary(condition, then, otherwise)
            }
            (Node::Call, _) => match self.expected(inner) {
                Some(operand) => self.shape(operand, pending),
                None => self.leaf(inner, pending),
            },
            (Node::CStyleCast, [.., operand]) if self.keeps_boolean(inner, *operand) => {
                self.shape(*operand, pending)
            }
            (Node::UnexposedExpression, _) => match self.unexposed(inner) {
                Unexposed::Chosen(Some(arm)) => self.shape(arm, pending),
                _ => self.leaf(inner, pending),
            },
            _ => self.leaf(inner, pending),
        }
    }

    fn binary<'u>(
        &mut self,
        cursor: Cursor<'u>,
        operator: BinaryOperator,
        left: Cursor<'u>,
        right: Cursor<'u>,
        pending: &mut Pending<'u>,
    ) -> Shape {
        let join: fn(Box<Shape>, Box<Shape>) -> Shape = match operator {
            BinaryOperator::And => Shape::And,
            BinaryOperator::Or => Shape::Or,
            BinaryOperator::Equal if self.both_boolean(left, right) => Shape::Equal,
            BinaryOperator::NotEqual | BinaryOperator::ExclusiveOr if self.both_boolean(left, right) => {
                Shape::Differ
            }
            _ => return self.leaf(cursor, pending),
        };
        let left = Box::new(self.shape(left, pending));
        let right = Box::new(self.shape(right, pending));
        join(left, right)
    }

    fn leaf<'u>(&mut self, cursor: Cursor<'u>, pending: &mut Pending<'u>) -> Shape {
        if let Some(constant) = cursor.evaluate() {
            if has_effect(cursor) {
                pending.effects.push(cursor);
            }
            return Shape::Constant(constant.is_true());
        }
        if self.text.line(cursor.lines().0) == b"__builtin_constant_p" && cursor.node() == Node::Call {
            // What is not constant for clang's front end is not constant without optimisation.
            return Shape::Constant(false);
        }
        if !cursor.ty().is_scalar() {
            pending.unmarkable.push(cursor);
            return Shape::Constant(false);
        }
        pending.leaves.push(cursor);
        Shape::Leaf(ConditionId::new(pending.leaves.len() - 1))
    }

    /// Through parentheses, conversions the source does not show, and `__extension__`.
    fn peel<'u>(&self, cursor: Cursor<'u>) -> Cursor<'u> {
        let mut inner = cursor;
        loop {
            let next = match inner.node() {
                Node::Paren | Node::Unary(UnaryOperator::Extension) => inner.children().into_iter().next(),
                Node::UnexposedExpression => match self.unexposed(inner) {
                    Unexposed::Conversion(child) => Some(child),
                    _ => None,
                },
                _ => None,
            };
            match next {
                Some(child) => inner = child,
                None => return inner,
            }
        }
    }

    /// The sides of a comparison of numbers, and whether they have a sign; truth values have no neighbours.
    fn compared(&self, leaf: Cursor<'_>) -> Option<(bool, (String, String))> {
        let inner = self.peel(leaf);
        let Node::Binary(BinaryOperator::Equal | BinaryOperator::NotEqual | BinaryOperator::Order) =
            inner.node()
        else {
            return None;
        };
        let children = inner.children();
        let [left, right] = children.as_slice() else { return None };
        if self.is_boolean(*left) || self.is_boolean(*right) {
            return None;
        }
        let has_sign = |side: &Cursor<'_>| match side.ty().node() {
            TypeNode::Char { .. } | TypeNode::Float => Some(true),
            // a narrower one becomes an `int`
            TypeNode::Integer { signed } => Some(signed || side.ty().size() < Some(4)),
            TypeNode::Enum => Some(false),
            TypeNode::Void
            | TypeNode::Bool
            | TypeNode::Pointer
            | TypeNode::Array
            | TypeNode::Record
            | TypeNode::Function
            | TypeNode::Other => None,
        };
        let (of_left, of_right) = (has_sign(left)?, has_sign(right)?);
        // of two sizes the larger decides, of one size the one without a sign
        let signed = match left.ty().size().cmp(&right.ty().size()) {
            Ordering::Less => of_right,
            Ordering::Greater => of_left,
            Ordering::Equal => of_left && of_right,
        };
        let text = |side: &Cursor<'_>| {
            let (first, last) = side.lines();
            self.spelling.of(first, last)
        };
        Some((signed, (text(left), text(right))))
    }

    fn both_boolean(&self, left: Cursor<'_>, right: Cursor<'_>) -> bool {
        self.is_boolean(left) && self.is_boolean(right)
    }

    /// Whether its value can only be 0 or 1 because of what it is.
    fn is_boolean(&self, cursor: Cursor<'_>) -> bool {
        let inner = self.peel(cursor);
        let children = inner.children();
        match (inner.node(), children.as_slice()) {
            (Node::Unary(UnaryOperator::Not), _) => inner.ty().is_scalar(),
            (
                Node::Binary(
                    BinaryOperator::And
                    | BinaryOperator::Or
                    | BinaryOperator::Equal
                    | BinaryOperator::NotEqual
                    | BinaryOperator::Order,
                ),
                _,
            ) => inner.ty().is_scalar(),
            (Node::Binary(BinaryOperator::ExclusiveOr), [left, right]) => self.both_boolean(*left, *right),
            (Node::Binary(BinaryOperator::Comma), [_, right]) => self.is_boolean(*right),
            (Node::Conditional, [_, then, otherwise]) => {
                self.is_boolean_arm(*then) && self.is_boolean_arm(*otherwise)
            }
            (Node::CStyleCast, [.., operand]) => {
                inner.ty().node() == TypeNode::Bool || self.keeps_boolean(inner, *operand)
            }
            (Node::Call, _) => match self.expected(inner) {
                Some(operand) => self.is_boolean(operand),
                None => inner.ty().node() == TypeNode::Bool,
            },
            _ => inner.ty().node() == TypeNode::Bool,
        }
    }

    /// An arm of `?:` is boolean also when it is 0 or 1.
    fn is_boolean_arm(&self, cursor: Cursor<'_>) -> bool {
        self.is_boolean(cursor)
            || cursor
                .evaluate()
                .is_some_and(|constant| matches!(constant, crate::clang::Constant::Integer(0 | 1)))
    }

    /// Whether a cast leaves the truth of a boolean operand alone.
    fn keeps_boolean(&self, cast: Cursor<'_>, operand: Cursor<'_>) -> bool {
        let to = cast.ty().node();
        matches!(to, TypeNode::Bool | TypeNode::Integer { .. } | TypeNode::Char { .. })
            && operand.is_expression()
            && self.is_boolean(operand)
    }

    /// Whether `==`, `!=` or `^` stands over booleans, one of them a decision by itself.
    fn joins_decisions(&self, cursor: Cursor<'_>) -> bool {
        let children = cursor.children();
        let [left, right] = children.as_slice() else { return false };
        let logical = |cursor: &Cursor<'_>| {
            matches!(
                self.peel(*cursor).node(),
                Node::Unary(UnaryOperator::Not) | Node::Binary(BinaryOperator::And | BinaryOperator::Or)
            )
        };
        (logical(left) || logical(right)) && self.both_boolean(*left, *right)
    }

    /// The first operand of `__builtin_expect`, unless its conversion to `long` could change whether it is true.
    fn expected<'u>(&self, call: Cursor<'u>) -> Option<Cursor<'u>> {
        let name = self.text.line(call.lines().0);
        if !matches!(name, b"__builtin_expect" | b"__builtin_expect_with_probability") {
            return None;
        }
        let operand = call.arguments().into_iter().next()?;
        let inner = self.peel(operand);
        let fits =
            matches!(inner.ty().node(), TypeNode::Integer { .. } | TypeNode::Char { .. } | TypeNode::Enum)
                && inner.ty().size() <= call.ty().size();
        (fits || self.is_boolean(inner)).then_some(operand)
    }

    /// Calls whose arguments clang looks at but does not evaluate.
    fn is_unevaluated_call(&self, call: Cursor<'_>) -> bool {
        matches!(
            self.text.line(call.lines().0),
            b"__builtin_constant_p"
                | b"__builtin_assume"
                | b"__builtin_object_size"
                | b"__builtin_classify_type"
        )
    }

    /// Names as a gap what is not walked but holds decisions.
    pub(super) fn leave_unmarked(&mut self, cursor: Cursor<'_>) {
        let (first, last) = cursor.lines();
        let decides = (first..=last).any(|line| matches!(self.text.line(line), b"&&" | b"||" | b"!" | b"?"));
        if decides {
            let what = self.spelling.of(first, last);
            self.draft.unmarked(self.span(first), what);
        }
    }

    fn unexposed<'u>(&self, cursor: Cursor<'u>) -> Unexposed<'u> {
        let children = cursor.children();
        let (first, _) = cursor.lines();
        match (children.as_slice(), self.text.line(first)) {
            ([only], _) if only.lines() == cursor.lines() && only.is_expression() => {
                Unexposed::Conversion(*only)
            }
            ([condition, then, otherwise], b"__builtin_choose_expr") => {
                let arm = condition.evaluate().map(|value| if value.is_true() { *then } else { *otherwise });
                Unexposed::Chosen(arm)
            }
            (_, b"__builtin_offsetof" | b"__builtin_types_compatible_p") => Unexposed::Unevaluated,
            ([common, .., otherwise], _) if self.is_elvis(*common) => {
                Unexposed::Elvis { common: *common, otherwise: *otherwise }
            }
            _ => Unexposed::Other,
        }
    }

    fn is_elvis(&self, common: Cursor<'_>) -> bool {
        let after = common.lines().1 + 1;
        self.text.line(after) == b"?" && self.text.line(after + 1) == b":"
    }
}

/// Whether something in a constant is evaluated for its effect alone: clang's evaluator sees past that.
fn has_effect(constant: Cursor<'_>) -> bool {
    matches!(constant.node(), Node::Binary(BinaryOperator::Comma) | Node::StatementExpression)
        || constant.children().into_iter().any(has_effect)
}
