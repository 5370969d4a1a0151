import Type, { type Static, type TObject } from 'typebox'

/** A request to the API of the platform, made for a tool. */
type PlatformRequest = {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string | number | boolean | undefined>
  body?: object
  /** Whether the body needs a ciphertext of the entity secret. */
  needsSecret?: true
}

/** The content of `data`, and where a list goes on. */
type PlatformAnswer<Data> = { data: Data; pageAfter: string | undefined }

/** The API, as the key of the agent may use it, on behalf of one tool. Throws a ToolProblem with the reason of a refusal. */
export type Platform = <Data = unknown>(request: PlatformRequest) => Promise<PlatformAnswer<Data>>

/** A reason why a tool did not do what it was asked for, as the agent reads it. */
export class ToolProblem extends Error {}

/** A tool of an agent. */
export type Tool = {
  name: string
  title: string
  description: string
  /** Whether it changes anything. */
  acts: boolean
  input: TObject
  run(platform: Platform, input: Record<string, unknown>): Promise<unknown>
}

/** Declares a tool; the type of its input follows from the schema. */
export const tool = <Schema extends TObject>(
  declared: Omit<Tool, 'input' | 'run'> & {
    input: Schema
    run(platform: Platform, input: Static<Schema>): Promise<unknown>
  },
): Tool => declared as unknown as Tool

/** The input of a tool: what it does not know, it refuses. */
export const inputOf = <Fields extends Record<string, Type.TSchema>>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: false })

export const optional = Type.Optional

export const idInput = (description: string) => Type.String({ format: 'uuid', description })
export const textInput = (description: string, maxLength = 200) =>
  Type.String({ minLength: 1, maxLength, description })

/** The fields with which a list goes on. */
export const pageInput = {
  pageSize: optional(
    Type.Integer({ minimum: 1, maximum: 25, description: 'How many to list. Default: 10.' }),
  ),
  pageAfter: optional(idInput('Where to go on: the pageAfter of the answer before.')),
}

/** Reads one page of a list, under the name of its items. */
export async function readList(
  platform: Platform,
  path: string,
  name: string,
  { pageSize = 10, ...query }: { pageSize?: number } & PlatformRequest['query'],
) {
  const { data, pageAfter } = await platform({ method: 'GET', path, query: { pageSize, ...query } })
  const items = Array.isArray(data) ? { [name]: data } : (data as object)
  return { ...items, ...(pageAfter && { pageAfter }) }
}

/** Reads one resource. */
export const readOne = async (platform: Platform, path: string) =>
  (await platform({ method: 'GET', path })).data
