/** Replaces one piece of code of one file. `from` is matched by its tokens and must be there exactly once. */
export type Edit = { file: string; from: string; to: string }

/** A test file and a part of the test's full name; `suite` is the file of that test where another one runs it. */
export type Proof = { file: string; title: string; suite?: string }

/** A bug that a programmer could introduce, and the test that must fail because of it. */
export type Mutant = { name: string; about: string; edits: readonly Edit[]; test: Proof }

export const proof = (file: string, title: string): Proof => ({ file, title })
export const edit = (file: string, from: string, to: string): Edit => ({ file, from, to })

export const engine = 'src/engines/transactions'
