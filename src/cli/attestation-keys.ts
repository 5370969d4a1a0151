import {
  type AttestationKey,
  type AttestationPurpose,
  createAttestationKey,
  endAttestationKey,
  listAttestationKeys,
} from '#custody/installation/index'
import { hexOf } from '#lib/hex'
import { isUuid } from '#lib/ids'
import type { Db } from '#runtime/db/db'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { jsonOption, printRow, printRows } from './table.ts'
import { withContext } from './with-context.ts'

export const attestationKeysCommand: Command = {
  usage: `bezant attestation-keys list [--purpose message|balance|quote] [--json]
       bezant attestation-keys create --purpose message|balance|quote [--json]
       bezant attestation-keys retire ID [--yes]

The keys that sign cross-chain messages (message), attestations and burns of unified balances (balance), and quotes of fees that
burns pay beforehand (quote).
create makes a key. The first one of a purpose signs at once, each further one when those before it are retired. Until
then, make its address known to the contracts of every chain: as an attester of each message transmitter, as an
attestation signer of each minter and a burn signer of each wallet contract, or as a quote signer of each contract of prepaid fees.
list shows addresses; with --json also the public keys, which BEZANT_ATTESTERS names.
retire ends the use of a key, for good; the oldest key that is left signs from then on. It names both, and asks. Leave the address with the contracts
until what it signed is delivered. The root key is needed to create.`,
  takesArguments: true,
  options: {
    purpose: { type: 'string', value: 'PURPOSE', about: 'message, balance or quote.' },
    yes: { type: 'boolean', about: 'Do not ask for confirmation.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

const purposes: readonly AttestationPurpose[] = ['message', 'balance', 'quote']

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('attestation-keys', args, actions)(args)
  return 0
}

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: (args) =>
    withDatabase(args, async (database) => {
      const wanted = purposeOf(args)
      printRows(args, await keysOf(database, wanted ? [wanted] : purposes), [
        'id',
        'purpose',
        'address',
        'createDate',
        'retiredDate',
      ])
    }),
  create: async (args) => {
    const purpose = purposeOf(args)
    if (!purpose) throw new UsageError('--purpose is missing: message, balance or quote')
    const made = await withContext(args, (ctx) => createAttestationKey({ ...ctx, db: ctx.database }, purpose))
    printRow(args, shownKey(made))
  },
  retire: async (args) => {
    const [, id] = args.positionals
    if (id === undefined || !isUuid(id))
      throw new UsageError('retire needs the id of a key: see bezant attestation-keys list')
    const plan = await withDatabase(args, (database) => retirementOf(database, id))
    if (!plan) throw new Error(`there is no key ${id} in use: see bezant attestation-keys list`)
    process.stdout.write(`${plan.lines.join('\n')}\n`)
    if (args.flags['yes'] !== true && !(await askToConfirm(plan.question)))
      throw new Error('nothing is retired')
    const did = await withContext(args, (ctx) => endAttestationKey({ ...ctx, db: ctx.database }, id))
    if (!did) throw new Error(`the key ${id} was retired meanwhile: see bezant attestation-keys list`)
    process.stdout.write(`The key ${id} signs nothing more.\n`)
  },
}

const named = ({ id, address, createDate }: AttestationKey) => `${address} (${id}, made ${createDate})`

/** Describes the retirement of a key and its successor; `undefined` where no key with this id is in use. */
async function retirementOf(db: Db, id: string) {
  const keys = (await Promise.all(purposes.map((purpose) => listAttestationKeys(db, purpose)))).flat()
  const inUse = keys.filter(({ retiredDate }) => !retiredDate)
  const retired = inUse.find((key) => key.id === id)
  if (!retired) return undefined
  const { purpose } = retired
  const ofPurpose = inUse
    .filter((key) => key.purpose === purpose)
    .sort((one, other) => one.createDate.localeCompare(other.createDate) || one.id.localeCompare(other.id))
  const [signer] = ofPurpose
  const [next] = ofPurpose.filter((key) => key !== retired)
  const after = next ? named(next) : `none: nothing of the purpose ${purpose} is signed until there is one`
  return {
    lines: [
      `retires: ${named(retired)}, of the purpose ${purpose}${retired === signer ? ', which signs now' : ''}`,
      `signs then: ${after}`,
    ],
    question: `A retired key never signs again. The contracts of every chain must know the key that signs then.`,
  }
}

function purposeOf(args: ParsedArgs): AttestationPurpose | undefined {
  const text = textFlag(args, 'purpose')
  if (text === undefined) return undefined
  const purpose = purposes.find((each) => each === text)
  if (!purpose) throw new UsageError(`--purpose must be message, balance or quote, not "${text}"`)
  return purpose
}

const keysOf = async (db: Db, wanted: readonly AttestationPurpose[]) =>
  (await Promise.all(wanted.map((purpose) => listAttestationKeys(db, purpose)))).flat().map(shownKey)

const shownKey = ({ id, purpose, address, publicKey, createDate, retiredDate }: AttestationKey) => ({
  id,
  purpose,
  address,
  publicKey: hexOf(publicKey),
  createDate,
  retiredDate: retiredDate ?? '',
})
