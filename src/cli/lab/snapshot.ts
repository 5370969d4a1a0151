import { createWriteStream } from 'node:fs'
import { access, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, chooseAction, type ParsedArgs, UsageError } from '../command.ts'
import { throwNaming } from '../explain-error.ts'
import { askSandbox, labOptions, requestSandbox } from './client.ts'
import { printList, printOne } from './print.ts'

export const snapshotCommand: Command = {
  usage: `bezant sandbox snapshot list
       bezant sandbox snapshot save NAME
       bezant sandbox snapshot restore NAME
       bezant sandbox snapshot delete NAME
       bezant sandbox snapshot export NAME FILE
       bezant sandbox snapshot import NAME FILE

save keeps the whole state of the sandbox under a name: database, chains, time, caught messages.
restore returns to it, and keeps the state that it replaces as @auto-1. @fresh is the state of the
first start. export and import carry a snapshot to another sandbox with the same chains.`,
  takesArguments: true,
  options: labOptions,
  run,
}

export const resetCommand: Command = {
  usage: `bezant sandbox reset

Returns the sandbox to the state of its first start. The present state is kept as @auto-1: undo the
reset with bezant sandbox snapshot restore @auto-1.`,
  options: labOptions,
  run: async (args) => {
    print(args, await askSandbox<SnapshotRow>(args, 'POST', '/sandbox/reset'))
    return 0
  },
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('sandbox snapshot', args, actions)(args)
  return 0
}

type SnapshotRow = {
  name: string
  savedDate: string
  version: string
  chains: { blockchain: string; number: number; hash: string }[]
  bytes: number
}

/** The heights of the chains say more to a reader than the hashes of their blocks. */
const print = (args: ParsedArgs, row: SnapshotRow) =>
  printOne(args, row, {
    ...row,
    chains: row.chains.map(({ blockchain, number }) => `${blockchain} at block ${number}`),
  })

const path = '/sandbox/snapshots'
const columns = ['name', 'savedDate', 'version', 'bytes'] as const

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: async (args) => printList(args, await askSandbox<SnapshotRow[]>(args, 'GET', path), columns),
  save: async (args) =>
    print(args, await askSandbox<SnapshotRow>(args, 'POST', path, { name: nameOf(args) })),
  restore: async (args) =>
    print(args, await askSandbox<SnapshotRow>(args, 'POST', `${pathOf(args)}/restore`)),
  delete: async (args) => {
    await askSandbox(args, 'DELETE', pathOf(args))
    printOne(args, { name: nameOf(args), isDeleted: true })
  },
  export: async (args) => {
    const file = fileOf(args)
    await access(dirname(file))
    const { body } = await requestSandbox(args, 'GET', `${pathOf(args)}/export`)
    const draft = `${file}.new`
    try {
      await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(draft, { mode: 0o600 }))
      await rename(draft, file)
    } catch (error) {
      throwNaming(file, error)
    } finally {
      await rm(draft, { force: true })
    }
    printOne(args, { name: nameOf(args), file, bytes: (await stat(file)).size })
  },
  import: async (args) => {
    const file = fileOf(args)
    const body = await readFile(file).catch((error) => throwNaming(file, error))
    const response = await requestSandbox(args, 'POST', `${pathOf(args)}/import`, {
      body,
      type: 'application/gzip',
    })
    print(args, ((await response.json()) as { data: SnapshotRow }).data)
  },
}

const pathOf = (args: ParsedArgs) => `${path}/${encodeURIComponent(nameOf(args))}`

function nameOf({ positionals: [action, name] }: ParsedArgs): string {
  if (name !== undefined) return name
  throw usage(`${action} needs a name: bezant sandbox snapshot list shows them`)
}

function fileOf(args: ParsedArgs): string {
  const [action, , file] = args.positionals
  if (file !== undefined) return file
  throw usage(`${action} needs a name and a file`)
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant sandbox snapshot --help`)
