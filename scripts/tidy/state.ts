import ts from 'typescript'
import type { Rule, SourceFile } from './repository.ts'
import { programFiles } from './words.ts'

/** State of the whole process, each with its reason. A name only leaves this list. */
const stateOfProcess: Record<string, string> = {
  'src/lib/ids.ts poolUsed': 'Random bytes are drawn for many ids at once.',
  'src/lib/ids.ts counts': 'Ids of one process ascend, whichever service asks for them.',
  'src/runtime/scheduling/failpoints.ts armed': 'A failpoint ends or freezes the process.',
  'src/runtime/scheduling/loop.ts running': 'A loop that is woken without work rests again.',
  'src/runtime/db/db.ts preparedStatements': 'A name of a statement depends on nothing but its text.',
  'src/runtime/db/table.ts tables': 'Declarations: complete when the files are loaded.',
  'src/chains/evm/effects/known-calls.ts calls': 'Declarations: complete when the file is loaded.',
  'src/chains/evm/blocks/bloom.ts known': 'A cache of a function that depends on nothing but its argument.',
  'src/api/messages/attestation-service.ts asked': 'A process limits its own requests.',
  'src/kit/start-sandbox.ts own': 'The files of a test run share one server process.',
}

/** Weak collections are absent: their entries belong to the service, chain or request that is the key, and end with it. */
const collections = new Set(['Map', 'Set', 'Array'])
/** Functions whose result counts or limits. */
const counters = new Set(['createBudgets', 'createFailureCounts', 'createLanes', 'createRepeatFilter'])
const mutators = new Set(
  'set add delete clear push pop shift unshift splice sort reverse fill copyWithin'.split(' '),
)

export const stateRule: Rule = {
  name: 'no value at the top of a file changes',
  why: 'Services of one process would share it, and a test would leave it to the next: open it with them, or use `oncePer`.',
  check: (repository) => {
    const found = programFiles(repository).flatMap((file) =>
      changingIn(file).map(({ name, line }) => ({ id: `${file.path} ${name}`, line })),
    )
    const ids = new Set(found.map(({ id }) => id))
    return [
      ...found
        .filter(({ id }) => !Object.hasOwn(stateOfProcess, id))
        .map(({ id, line }) => `${id.replace(' ', `:${line} `)} changes`),
      ...Object.keys(stateOfProcess)
        .filter((id) => !ids.has(id))
        .map((id) => `${id} is gone or constant: take it out of stateOfProcess in scripts/tidy/state.ts`),
    ]
  },
}

type Declared = { name: string; line: number }

/** The variables at the top of a file that are declared by `let`, count, or hold a collection or an object that the file changes. */
function changingIn(file: SourceFile): Declared[] {
  const source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.ES2023, true)
  const changed = changedNames(source)
  return source.statements.filter(ts.isVariableStatement).flatMap(({ declarationList }) => {
    const isConstant = (declarationList.flags & ts.NodeFlags.Const) !== 0
    return declarationList.declarations.flatMap(({ name, initializer }) =>
      ts.isIdentifier(name) && (!isConstant || (initializer && isState(initializer, changed.has(name.text))))
        ? [{ name: name.text, line: source.getLineAndCharacterOfPosition(name.pos).line + 1 }]
        : [],
    )
  })
}

function isState(value: ts.Expression, isChanged: boolean): boolean {
  if (ts.isCallExpression(value)) return isOneOf(value, counters)
  if (!isChanged) return false
  if (ts.isNewExpression(value)) return isOneOf(value, collections)
  return ts.isArrayLiteralExpression(value) || ts.isObjectLiteralExpression(value)
}

const isOneOf = ({ expression }: ts.CallExpression | ts.NewExpression, names: ReadonlySet<string>) =>
  ts.isIdentifier(expression) && names.has(expression.text)

const isAssignment = (operator: ts.SyntaxKind) =>
  operator >= ts.SyntaxKind.FirstAssignment && operator <= ts.SyntaxKind.LastAssignment

/** The names that a file calls a mutator of, or assigns or deletes a member of. */
function changedNames(source: ts.SourceFile): Set<string> {
  const names = new Set<string>()
  const note = (value: ts.Expression) => {
    if (ts.isIdentifier(value)) names.add(value.text)
  }
  const noteOwner = (member: ts.Expression) => {
    if (ts.isPropertyAccessExpression(member) || ts.isElementAccessExpression(member)) note(member.expression)
  }
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      if (mutators.has(node.expression.name.text)) note(node.expression.expression)
    } else if (ts.isDeleteExpression(node)) noteOwner(node.expression)
    else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) {
      if (node.operator === ts.SyntaxKind.PlusPlusToken || node.operator === ts.SyntaxKind.MinusMinusToken)
        noteOwner(node.operand)
    } else if (ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) noteOwner(node.left)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return names
}
