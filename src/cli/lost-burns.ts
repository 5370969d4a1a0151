import { requireNetwork } from '#chains/networks/index'
import { bookLoss, burntToken, findLostBurn, type LostBurn, lostBurns } from '#engines/attestation/index'
import { currencyDecimals } from '#engines/ledger/index'
import { formatAmount } from '#lib/amounts'
import { type Hex, isHex } from '#lib/hex'
import { readDatabaseClock } from '#runtime/clock/database-clock'
import type { Database } from '#runtime/db/db'
import { type Command, chooseAction, type ParsedArgs, textFlag, UsageError } from './command.ts'
import { askToConfirm } from './confirm.ts'
import { connectionOptions, withDatabase } from './connection.ts'
import { jsonOption, printRows } from './table.ts'

export const lostBurnsCommand: Command = {
  usage: `bezant lost-burns list [--json]
       bezant lost-burns book NONCE --reason TEXT [--yes]

A burn is lost when its message was attested and its block left the chain: coins were minted on another chain, or can be,
and nothing was burned for them. It stays charged against BEZANT_FAST_ALLOWANCE, and nothing of its chain is attested before it
is final, until the burn is in a block again or is booked. list shows the lost burns; MINTED is the transaction that delivered
one, as far as this server follows its destination.

book ends that for one burn: it records the loss with your reason, and gives its part of the allowance back. Do it when the burn
cannot come back: another transaction used its nonce in a final block.`,
  takesArguments: true,
  options: {
    reason: { type: 'string', value: 'TEXT', about: 'Why the loss is booked, for the audit log.' },
    yes: { type: 'boolean', about: 'Do not ask for confirmation.' },
    ...jsonOption,
    ...connectionOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const act = chooseAction('lost-burns', args, actions)
  return withDatabase(args, (database) => act(database, args))
}

const shownMax = 1_000
export const shownLoss = ({
  nonce,
  blockchain,
  txHash,
  message,
  amountAtomic,
  mintTxHash,
  attestedDate,
}: LostBurn) => {
  const token = burntToken(requireNetwork(blockchain), message as Hex)
  return {
    nonce,
    blockchain,
    amount: formatAmount(amountAtomic, token?.decimals ?? currencyDecimals),
    token: token?.symbol ?? 'of another token',
    burn: txHash,
    minted: mintTxHash,
    attested: attestedDate,
  }
}

const columns = ['nonce', 'blockchain', 'amount', 'token', 'burn', 'minted', 'attested'] as const

type LossAction = (database: Database, args: ParsedArgs) => Promise<number>

const actions: Record<string, LossAction> = {
  list: async (database, args) => {
    printRows(args, (await lostBurns(database, shownMax)).map(shownLoss), columns)
    return 0
  },
  book: async (database, args) => {
    const nonce = args.positionals[1]?.toLowerCase()
    if (!isHex(nonce, 32))
      throw new UsageError('NONCE must be 0x and 64 hexadecimal digits, as bezant lost-burns list shows it')
    const reason = textFlag(args, 'reason')
    if (!reason) throw new UsageError('--reason is missing: say why the loss is booked')
    const lost = await findLostBurn(database, nonce)
    if (!lost) throw new UsageError(`no lost burn has the nonce ${nonce}: see bezant lost-burns list`)
    const { amount, token, blockchain } = shownLoss(lost)
    const question = `This books ${amount} ${token} of ${blockchain} as lost and allows fast attestations again.`
    if (!args.flags['yes'] && !(await askToConfirm(question))) {
      process.stdout.write('Nothing was changed.\n')
      return 1
    }
    await bookLoss(
      { database, clock: await readDatabaseClock(database) },
      { nonce, actor: 'operator', reason },
    )
    process.stdout.write(`${amount} ${token} of ${blockchain} are booked as lost.\n`)
    return 0
  },
}
