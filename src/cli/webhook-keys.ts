import { listWebhookKeys, rotateWebhookKeys } from '#custody/installation/index'
import { type Command, chooseAction, type ParsedArgs } from './command.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { jsonOption, printRow, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const webhookKeysCommand: Command = {
  usage: `bezant webhook-keys list
       bezant webhook-keys rotate

list shows the ids and public keys of the keys that sign webhooks of wallets, the present ones first.
rotate makes new keys, which all processes use within a second or two. Receivers find their id in
X-Circle-Key-Id; the former public keys are served for good. The root key is needed.`,
  takesArguments: true,
  options: { ...jsonOption, ...connectionOptions },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('webhook-keys', args, actions)(args)
  return 0
}

type ShownKey = { id: string; publicKey: Buffer; ed25519PublicKey: Buffer; createDate: string }

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: (args) =>
    withDatabase(args, async (database) => {
      const keys = await listWebhookKeys(database)
      printRows(args, keys.map(shownKey), ['id', 'createDate', 'publicKey'])
    }),
  rotate: async (args) => {
    const made = await withContext(args, (ctx) => rotateWebhookKeys({ ...ctx, db: ctx.database }))
    printRow(args, shownKey(made))
  },
}

/** The public part, as the API shows it. */
const shownKey = ({ id, publicKey, ed25519PublicKey, createDate }: ShownKey) => ({
  id,
  createDate,
  publicKey: publicKey.toString('base64'),
  standardWebhooksKey: `whpk_${ed25519PublicKey.toString('base64')}`,
})
