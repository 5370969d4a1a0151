import Type, { type TObject, type TSchema } from 'typebox'
import type { LogForm } from '#runtime/request-log/forms'

/*
 * OpenAPI shows a schema with a `title` once, as the component of that name, and refers to it elsewhere. Members whose names
 * begin with a tilde annotate a schema for the document only.
 */
export type Annotated = TSchema & {
  title?: string
  description?: string
  '~about'?: string
  '~parameter'?: string
  '~remedy'?: string
  /** The form of texts that the request log shows; it shows none of a text without one. */
  '~log'?: LogForm
  /** Errors repeat no value of such a field. */
  '~secret'?: true
}

/** Keeps the members of a schema that TypeBox hides, such as the one of an optional field. */
const annotate = <Schema extends TSchema>(schema: Schema, annotations: Record<string, unknown>): Schema =>
  Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), annotations) as Schema

/** Describes a field whose schema is shared: the schema's own description remains that of the component. */
export const described = <Schema extends TSchema>(schema: Schema, description: string): Schema =>
  annotate(schema, (schema as Annotated).title ? { '~about': description } : { description })

/** Names a parameter that several operations take; each refers to the one component. */
const sharedParameter = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
  annotate(schema, { '~parameter': name })

const uuid = (description: string) => Type.String({ format: 'uuid', description })

/** The parameters of a path with one `{id}`; `noun` begins with an article, as in "the wallet". */
export const idParams = (name: string, noun: string): TObject<{ id: ReturnType<typeof uuid> }> =>
  Type.Object({ id: sharedParameter(name, uuid(`The id of ${noun}.`)) })

/** Keeps the value of a field out of errors. */
export const secret = <Schema extends TSchema>(schema: Schema): Schema =>
  annotate(schema, { '~secret': true })

/** Lets the request log show the texts of a field, as far as they have this form. */
export const logged = <Schema extends TSchema>(form: LogForm, schema: Schema): Schema =>
  annotate(schema, { '~log': form })
