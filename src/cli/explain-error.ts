import { errorKinds } from '#lib/error-kinds'
import { ApiError } from '#lib/errors'

/** The remedy for an error of the file system, by its code. Paths of commands are the data directory or files of the user. */
const fileRemedies: Readonly<Record<string, string>> = {
  EACCES: 'run as the user who owns it, or give another one',
  EPERM: 'run as the user who owns it, or give another one',
  EROFS: 'its file system is read-only: give another one',
  ENOTDIR: 'a part of this path is a file and not a directory: give another one',
  EISDIR: 'it is a directory: give a file',
  ENOENT: 'it does not exist: correct the path',
  ENOSPC: 'the disk is full: free some space, or give another one',
  EMFILE: 'too many files are open: raise the limit with ulimit -n',
}

/** Returns the text of an error for a terminal: with a remedy for files, and without the words of an API answer. */
export function explainError(error: Error): string {
  if (error instanceof ApiError) return withoutPreamble(error)
  const { code = '', path } = error as NodeJS.ErrnoException
  const remedy = fileRemedies[code]
  return path !== undefined && remedy !== undefined
    ? `${path} cannot be used (${code}): ${remedy}`
    : error.message
}

/** Throws an error of the file system with the path that the user gave: some have none, or that of a draft beside it. */
export function throwNaming(path: string, error: unknown): never {
  throw Object.assign(error as Error, { path })
}

/** Each answer of the API begins with the text of its kind, "API parameter invalid.", which names nothing on a command line. */
function withoutPreamble({ message, kind }: ApiError): string {
  const { text } = errorKinds[kind]
  return message.startsWith(`${text} `) ? message.slice(text.length + 1) : message
}
