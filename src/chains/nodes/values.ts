/** Readers of a node's values. Any unexpected value throws `NodeUnreachable`; none is guessed. */
import { NodeUnreachable } from './errors.ts'

export function truth(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw new NodeUnreachable(`the node's ${what} is neither true nor false`)
}

export type NodeFields = Readonly<Record<string, unknown>>

export function nodeFields(value: unknown, what: string): NodeFields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as NodeFields
  throw new NodeUnreachable(`the node's ${what} is not an object`)
}

export function nodeList(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value
  throw new NodeUnreachable(`the node's ${what} is not a list`)
}

export const listOfFields = (value: unknown, what: string): NodeFields[] =>
  nodeList(value, what).map((each) => nodeFields(each, what))
