//! Cursors: the nodes of libclang's tree that marking looks at.

use std::marker::PhantomData;

use clang_sys::*;

use super::types::ClangType;
use super::unit::{ParsedUnit, line_of, string};

/// A node of the tree.
#[derive(Clone, Copy)]
pub struct Cursor<'u> {
    pub(super) raw: CXCursor,
    pub(super) unit: PhantomData<&'u ParsedUnit>,
}

/// The kinds of nodes that marking distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    Function,
    Variable,
    Parameter,
    /// A type or another declaration that holds no code.
    OtherDeclaration,
    Paren,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Conditional,
    CStyleCast,
    Call,
    StatementExpression,
    Generic,
    /// `sizeof`, `_Alignof`.
    SizeOf,
    Reference,
    Literal,
    Block,
    /// Conversions the source does not show, GNU `?:`, and builtins with their own syntax.
    UnexposedExpression,
    OtherExpression,
    Compound,
    DeclarationStatement,
    If,
    While,
    DoWhile,
    For,
    Switch,
    Case,
    Default,
    Label,
    Null,
    Return,
    /// `break`, `continue`, `goto`.
    Jump,
    Assembly,
    /// Statements with attributes and what libclang has no name for.
    OtherStatement,
    Other,
}

/// The unary operators that marking distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    Not,
    /// `__extension__`.
    Extension,
    Other,
}

/// The binary operators that marking distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    And,
    Or,
    Equal,
    NotEqual,
    /// `<`, `<=`, `>`, `>=`.
    Order,
    ExclusiveOr,
    Comma,
    Other,
}

/// The value of a constant expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Integer(i128),
    Float(f64),
}

impl Constant {
    /// Whether C takes it as true.
    pub fn is_true(self) -> bool {
        match self {
            Self::Integer(value) => value != 0,
            Self::Float(value) => value != 0.0,
        }
    }
}

impl<'u> Cursor<'u> {
    fn wrap(raw: CXCursor) -> Self {
        Self { raw, unit: PhantomData }
    }

    /// What the node is.
    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    pub fn node(self) -> Node {
        match self.raw.kind {
            CXCursor_FunctionDecl => Node::Function,
            CXCursor_VarDecl => Node::Variable,
            CXCursor_ParmDecl => Node::Parameter,
            CXCursor_ParenExpr => Node::Paren,
            CXCursor_UnaryOperator => Node::Unary(self.unary_operator()),
            CXCursor_BinaryOperator => Node::Binary(self.binary_operator()),
            CXCursor_ConditionalOperator => Node::Conditional,
            CXCursor_CStyleCastExpr => Node::CStyleCast,
            CXCursor_CallExpr => Node::Call,
            CXCursor_StmtExpr => Node::StatementExpression,
            CXCursor_GenericSelectionExpr => Node::Generic,
            CXCursor_UnaryExpr => Node::SizeOf,
            CXCursor_DeclRefExpr => Node::Reference,
            CXCursor_IntegerLiteral
            | CXCursor_FloatingLiteral
            | CXCursor_ImaginaryLiteral
            | CXCursor_StringLiteral
            | CXCursor_CharacterLiteral => Node::Literal,
            CXCursor_BlockExpr => Node::Block,
            CXCursor_UnexposedExpr => Node::UnexposedExpression,
            CXCursor_CompoundStmt => Node::Compound,
            CXCursor_DeclStmt => Node::DeclarationStatement,
            CXCursor_IfStmt => Node::If,
            CXCursor_WhileStmt => Node::While,
            CXCursor_DoStmt => Node::DoWhile,
            CXCursor_ForStmt => Node::For,
            CXCursor_SwitchStmt => Node::Switch,
            CXCursor_CaseStmt => Node::Case,
            CXCursor_DefaultStmt => Node::Default,
            CXCursor_LabelStmt => Node::Label,
            CXCursor_NullStmt => Node::Null,
            CXCursor_ReturnStmt => Node::Return,
            CXCursor_BreakStmt | CXCursor_ContinueStmt | CXCursor_GotoStmt | CXCursor_IndirectGotoStmt => {
                Node::Jump
            }
            CXCursor_AsmStmt | CXCursor_MSAsmStmt => Node::Assembly,
            other => Self::other_node(other),
        }
    }

    fn other_node(kind: CXCursorKind) -> Node {
        // SAFETY: these take a number and look at nothing else.
        unsafe {
            if clang_isExpression(kind) != 0 {
                Node::OtherExpression
            } else if clang_isStatement(kind) != 0 {
                Node::OtherStatement
            } else if clang_isDeclaration(kind) != 0 {
                Node::OtherDeclaration
            } else {
                Node::Other
            }
        }
    }

    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    fn unary_operator(self) -> UnaryOperator {
        // SAFETY: the cursor belongs to a living unit.
        match unsafe { clang_getCursorUnaryOperatorKind(self.raw) } {
            CXUnaryOperator_LNot => UnaryOperator::Not,
            CXUnaryOperator_Extension => UnaryOperator::Extension,
            _ => UnaryOperator::Other,
        }
    }

    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    fn binary_operator(self) -> BinaryOperator {
        // SAFETY: the cursor belongs to a living unit.
        match unsafe { clang_getCursorBinaryOperatorKind(self.raw) } {
            CXBinaryOperator_LAnd => BinaryOperator::And,
            CXBinaryOperator_LOr => BinaryOperator::Or,
            CXBinaryOperator_EQ => BinaryOperator::Equal,
            CXBinaryOperator_NE => BinaryOperator::NotEqual,
            CXBinaryOperator_LT | CXBinaryOperator_GT | CXBinaryOperator_LE | CXBinaryOperator_GE => {
                BinaryOperator::Order
            }
            CXBinaryOperator_Xor => BinaryOperator::ExclusiveOr,
            CXBinaryOperator_Comma => BinaryOperator::Comma,
            _ => BinaryOperator::Other,
        }
    }

    /// Whether it is an expression of any kind.
    pub fn is_expression(self) -> bool {
        // SAFETY: takes a number.
        unsafe { clang_isExpression(self.raw.kind) != 0 }
    }

    /// Whether it is a statement (and no expression).
    pub fn is_statement(self) -> bool {
        // SAFETY: takes a number.
        unsafe { clang_isStatement(self.raw.kind) != 0 }
    }

    /// The children in source order.
    pub fn children(self) -> Vec<Cursor<'u>> {
        extern "C" fn push(child: CXCursor, _: CXCursor, list: CXClientData) -> CXChildVisitResult {
            // SAFETY: `list` is the vector below, which outlives the visit and is not touched otherwise.
            unsafe { (*list.cast::<Vec<CXCursor>>()).push(child) };
            CXChildVisit_Continue
        }
        let mut list: Vec<CXCursor> = Vec::new();
        // SAFETY: the visitor gets the vector it expects and does not unwind.
        unsafe { clang_visitChildren(self.raw, push, (&raw mut list).cast()) };
        list.into_iter().map(Self::wrap).collect()
    }

    /// First and last line of the text it covers.
    pub fn lines(self) -> (u32, u32) {
        // SAFETY: the cursor belongs to a living unit.
        unsafe {
            let extent = clang_getCursorExtent(self.raw);
            (line_of(clang_getRangeStart(extent)), line_of(clang_getRangeEnd(extent)))
        }
    }

    /// Line of its name.
    pub fn name_line(self) -> u32 {
        // SAFETY: the cursor belongs to a living unit.
        line_of(unsafe { clang_getCursorLocation(self.raw) })
    }

    /// The name of a declaration, or of what a reference refers to.
    pub fn name(self) -> String {
        // SAFETY: the cursor belongs to a living unit.
        string(unsafe { clang_getCursorSpelling(self.raw) })
    }

    /// Type of an expression or declaration.
    pub fn ty(self) -> ClangType<'u> {
        // SAFETY: the cursor belongs to a living unit.
        ClangType::wrap(unsafe { clang_getCursorType(self.raw) })
    }

    /// Result type of a function.
    pub fn result_type(self) -> ClangType<'u> {
        // SAFETY: the cursor belongs to a living unit.
        ClangType::wrap(unsafe { clang_getCursorResultType(self.raw) })
    }

    /// Type of a field without the bits of its width, and the width of a bit-field.
    pub fn bit_field_width(self) -> Option<u32> {
        // SAFETY: the cursor belongs to a living unit.
        let width = unsafe {
            if clang_Cursor_isBitField(self.raw) == 0 {
                return None;
            }
            clang_getFieldDeclBitWidth(self.raw)
        };
        u32::try_from(width).ok()
    }

    /// Whether it is the definition of what it declares.
    pub fn is_definition(self) -> bool {
        // SAFETY: the cursor belongs to a living unit.
        unsafe { clang_isCursorDefinition(self.raw) != 0 }
    }

    /// Whether a variable keeps its value between calls, or a function or global is known to its unit alone.
    pub fn is_static(self) -> bool {
        // SAFETY: the cursor belongs to a living unit.
        unsafe { clang_Cursor_getStorageClass(self.raw) == CX_SC_Static }
    }

    /// Whether a variable is only declared here.
    pub fn is_extern(self) -> bool {
        // SAFETY: the cursor belongs to a living unit.
        unsafe { clang_Cursor_getStorageClass(self.raw) == CX_SC_Extern }
    }

    /// Whether a function takes further arguments.
    pub fn is_variadic(self) -> bool {
        // SAFETY: the cursor belongs to a living unit.
        unsafe { clang_Cursor_isVariadic(self.raw) != 0 }
    }

    /// The initialiser of a variable.
    pub fn initialiser(self) -> Option<Cursor<'u>> {
        // SAFETY: the cursor belongs to a living unit; a missing initialiser is a null cursor.
        let raw = unsafe { clang_Cursor_getVarDeclInitializer(self.raw) };
        // SAFETY: takes any cursor.
        (unsafe { clang_Cursor_isNull(raw) } == 0).then(|| Self::wrap(raw))
    }

    /// The parameters of a function, or the arguments of a call.
    pub fn arguments(self) -> Vec<Cursor<'u>> {
        // SAFETY: the cursor belongs to a living unit; indices stay below the number of arguments.
        unsafe {
            let count = clang_Cursor_getNumArguments(self.raw).max(0);
            (0..count as u32).map(|index| Self::wrap(clang_Cursor_getArgument(self.raw, index))).collect()
        }
    }

    /// What a reference refers to.
    pub fn referenced(self) -> Cursor<'u> {
        // SAFETY: the cursor belongs to a living unit.
        Self::wrap(unsafe { clang_getCursorReferenced(self.raw) })
    }

    /// Whether a record or enumeration has no name.
    pub fn is_anonymous(self) -> bool {
        // SAFETY: the cursor belongs to a living unit.
        unsafe { clang_Cursor_isAnonymous(self.raw) != 0 }
    }

    /// Whether it declares a union.
    pub fn is_union(self) -> bool {
        self.raw.kind == CXCursor_UnionDecl
    }

    /// Whether it declares an enumerator.
    pub fn is_enumerator(self) -> bool {
        self.raw.kind == CXCursor_EnumConstantDecl
    }

    /// Integer type behind an enumeration.
    pub fn enum_integer(self) -> ClangType<'u> {
        // SAFETY: the cursor belongs to a living unit.
        ClangType::wrap(unsafe { clang_getEnumDeclIntegerType(self.raw) })
    }

    /// Value of an enumerator.
    pub fn enumerator_value(self, signed: bool) -> i128 {
        // SAFETY: the cursor belongs to a living unit.
        unsafe {
            if signed {
                i128::from(clang_getEnumConstantDeclValue(self.raw))
            } else {
                i128::from(clang_getEnumConstantDeclUnsignedValue(self.raw))
            }
        }
    }

    /// A number that is unique among the declarations of a unit.
    pub fn identity(self) -> u32 {
        // SAFETY: takes any cursor.
        unsafe { clang_hashCursor(clang_getCanonicalCursor(self.raw)) }
    }

    /// The value, when clang can compute it without running the program.
    #[expect(non_upper_case_globals, reason = "libclang's own names")]
    pub fn evaluate(self) -> Option<Constant> {
        // SAFETY: the result is disposed here, after its value was copied.
        unsafe {
            let result = clang_Cursor_Evaluate(self.raw);
            if result.is_null() {
                return None;
            }
            let value = match clang_EvalResult_getKind(result) {
                CXEval_Int if clang_EvalResult_isUnsignedInt(result) != 0 => {
                    Some(Constant::Integer(i128::from(clang_EvalResult_getAsUnsigned(result))))
                }
                CXEval_Int => Some(Constant::Integer(i128::from(clang_EvalResult_getAsLongLong(result)))),
                CXEval_Float => Some(Constant::Float(clang_EvalResult_getAsDouble(result))),
                _ => None,
            };
            clang_EvalResult_dispose(result);
            value
        }
    }
}
