import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import ts from 'typescript'

/** All settings by which an app may change the page, as the published client declares them. */
const declarations = readFileSync(
  createRequire(import.meta.url)
    .resolve('@circle-fin/w3s-pw-web-sdk')
    .replace(/index\.js$/, 'types.d.ts'),
  'utf8',
)
const source = ts.createSourceFile('types.d.ts', declarations, ts.ScriptTarget.Latest, true)
const interfaces = new Map(
  source.statements.filter(ts.isInterfaceDeclaration).map((found) => [found.name.text, found.members]),
)

/** A value of a type, with the same text wherever one fits. */
function filledAs(type: ts.TypeNode, text: string): unknown {
  if (ts.isTypeReferenceNode(type)) return membersOf(interfaces.get(type.typeName.getText())!, text)
  if (ts.isTypeLiteralNode(type)) return membersOf(type.members, text)
  if (ts.isArrayTypeNode(type)) return [text, text]
  return type.kind === ts.SyntaxKind.NumberKeyword ? 0.5 : text
}

const membersOf = (members: ts.NodeArray<ts.TypeElement>, text: string): Record<string, unknown> =>
  Object.fromEntries(
    members
      .filter(ts.isPropertySignature)
      .map((member) => [member.name.getText(), filledAs(member.type!, text)]),
  )

const filled = (name: string) => (text: string) => membersOf(interfaces.get(name)!, text)

/** Every text, color and image of the settings with one value. */
export const allTexts = filled('Localizations')
export const allColors = filled('ThemeColor')
export const allImages = filled('Resources')
