import { serverOptions } from '../ask-server.ts'
import { type Command, chooseAction, numberFlag, type ParsedArgs, UsageError } from '../command.ts'
import { printList, printOne } from '../lab/print.ts'
import { askAsOperator } from '../operator-client.ts'
import { type LoggedRow, queryOf, requestsPath } from './requests.ts'
import { tail } from './tail.ts'

export const logsCommand: Command = {
  usage: `bezant logs tail [--method METHOD] [--route PATH] [--status STATUS] [--key ID] [--resource ID]
           [--idempotency-key KEY] [--limit N] [--json]
       bezant logs list [the same]
       bezant logs show ID [--json]

tail prints the newest requests, and then each new one within a second or two of its answer, until
Ctrl-C. list prints the newest alone, the newest first. show prints one with its headers and bodies,
by its id or by the X-Request-Id of the answer. They ask a running server, with the API key in
BEZANT_API_KEY, which needs the scope operator:read; without one with the public key of a sandbox.`,
  takesArguments: true,
  options: {
    method: { type: 'string', value: 'METHOD', about: 'HTTP method, such as POST.' },
    route: { type: 'string', value: 'PATH', about: 'Documented path, such as /v1/w3s/wallets/{id}.' },
    status: { type: 'string', value: 'STATUS', about: 'Status such as 404, or a class such as 4xx.' },
    key: { type: 'string', value: 'ID', about: 'API key, by its id.' },
    resource: { type: 'string', value: 'ID', about: 'Resource that was created, read or changed.' },
    'idempotency-key': { type: 'string', value: 'KEY', about: 'Idempotency key.' },
    limit: {
      type: 'string',
      value: 'N',
      about: 'Number of requests to begin with, up to 50.',
      default: '20',
    },
    json: {
      type: 'boolean',
      about: 'Print each request as one line of JSON, as into a pipe or a file; a terminal shows a table.',
    },
    ...serverOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('logs', args, actions)(args)
  return 0
}

const columns = ['createDate', 'method', 'status', 'durationMs', 'path', 'code', 'id'] as const

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  tail: (args) => tail(args, limitOf(args)),
  list: async (args) => {
    const { data } = await askAsOperator<LoggedRow[]>(args, {
      path: `${requestsPath}?${queryOf(args, limitOf(args))}`,
    })
    printList(args, data, columns)
  },
  show: async (args) => {
    const { data } = await askAsOperator<LoggedRow>(args, {
      path: `${requestsPath}/${encodeURIComponent(idOf(args))}`,
    })
    printOne(args, data)
  },
}

const limitOf = (args: ParsedArgs): number => Math.max(1, numberFlag(args, 'limit', 50) ?? 20)

function idOf({ positionals: [, id] }: ParsedArgs): string {
  if (id !== undefined) return id
  throw new UsageError('show needs the id of a request: bezant logs list shows them\nSee: bezant logs --help')
}
