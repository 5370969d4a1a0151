import { randomUUID } from 'node:crypto'
import { parseAmount } from '#lib/amounts'
import type { ErrorName } from '#lib/error-kinds'
import { requireEqual, requireThat } from '../caller.ts'
import { untilFound } from '../until.ts'
import type { CheckGroup, OwnWallet, World } from '../world.ts'

const transfer = 'POST /v1/w3s/developer/transactions/transfer'
/** Faucets and blocks of public test networks take minutes. */
const patience = { everyMs: 1_000, patienceMs: 300_000 }

type WalletBalance = { amount: string; token: { id: string; symbol: string; isNative: boolean } }

const until = <Found>(what: string, find: () => Promise<Found | undefined>): Promise<Found> =>
  untilFound(what, patience, find)

const balancesOf = async ({ done }: World, { id }: OwnWallet): Promise<WalletBalance[]> =>
  (await done('GET /v1/w3s/wallets/{id}/balances', { params: { id } })).tokenBalances

/** Coins of the faucet for gas and for a transfer. */
async function fund(world: World, wallet: OwnWallet): Promise<WalletBalance> {
  const { address, blockchain } = wallet
  const body = { address, blockchain, native: true, usdc: true }
  await world.done('POST /v1/faucet/drips', { body })
  return until('the coins of the faucet are in the wallet', async () => {
    const balances = await balancesOf(world, wallet)
    const hasGas = balances.some(({ token }) => token.isNative)
    const coins = balances.find(({ token }) => token.symbol.startsWith('USDC') && !token.isNative)
    return hasGas ? coins : undefined
  })
}

async function ended(world: World, id: string) {
  return until(`the transaction ${id} ends`, async () => {
    const { transaction } = await world.done('GET /v1/w3s/transactions/{id}', { params: { id } })
    return ['COMPLETE', 'FAILED', 'DENIED', 'CANCELLED'].includes(transaction.state) ? transaction : undefined
  })
}

const usdcDecimals = 6

function atomic(amount: string): bigint {
  const parsed = parseAmount(amount, usdcDecimals)
  requireThat(typeof parsed === 'bigint', `${amount} is no amount of USDC`)
  return parsed
}

const paid = '0.25'
const paidAtomic = atomic(paid)

/** A transfer that lacks something, or has something wrong, and the error for it. */
const wrong: readonly [about: string, fields: object, error: ErrorName | readonly ErrorName[]][] = [
  ['without a fee', { feeLevel: undefined }, ['feeMissing', 'invalidRequest']],
  [
    'of an amount that is no number',
    { amounts: ['one'] },
    ['amountsNotDecimal', 'amountsInvalid', 'invalidRequest'],
  ],
  ['of a negative amount', { amounts: ['-1'] }, ['amountsInvalid', 'amountsNotDecimal', 'invalidRequest']],
  [
    'to an address that is none',
    { destinationAddress: '0x12' },
    ['destinationAddressInvalid', 'invalidRequest'],
  ],
  ['of a wallet that does not exist', { walletId: randomUUID() }, 'walletNotFound'],
]

export const transfers: CheckGroup = {
  name: 'transfers',
  checks: [
    ...wrong.map(([about, fields, error]) => ({
      about: `refuses a transfer ${about}`,
      needs: 'entity secret' as const,
      run: async ({ wallets, refused, seal, blockchain }: World) => {
        const [from, to] = await wallets()
        const body = {
          idempotencyKey: randomUUID(),
          entitySecretCiphertext: await seal(),
          walletId: from.id,
          // The native coin.
          tokenAddress: '',
          blockchain,
          destinationAddress: to.address,
          amounts: ['0.01'],
          feeLevel: 'MEDIUM',
          ...fields,
        }
        await refused(transfer, error, { body })
      },
    })),
    {
      about: 'pays once for an idempotency key, completes, and shows both sides what was paid',
      needs: 'faucet',
      run: async (world) => {
        const { wallets, done, seal } = world
        const [from, to] = await wallets()
        const coins = await fund(world, from)
        const body = {
          idempotencyKey: randomUUID(),
          walletId: from.id,
          tokenId: coins.token.id,
          destinationAddress: to.address,
          amounts: [paid],
          feeLevel: 'HIGH',
          refId: 'conformance',
        }
        const ask = async () =>
          (await done(transfer, { body: { ...body, entitySecretCiphertext: await seal() } })) as {
            id: string
          }
        const [first, second] = [await ask(), await ask()]
        requireEqual(second.id, first.id, 'the id of the repeated request')
        const transaction = await ended(world, first.id)
        requireEqual(transaction.state, 'COMPLETE', 'state')
        requireEqual(transaction.refId, 'conformance', 'refId')
        requireThat(typeof transaction.txHash === 'string', 'it has no txHash')
        const received = await until('the coins are received', async () =>
          (await balancesOf(world, to)).find(({ token }) => token.id === coins.token.id),
        )
        requireThat(atomic(received.amount) === paidAtomic, `the receiver has ${received.amount}`)
        const inbound = await until('the receiver has a transaction', async () => {
          const query = { walletIds: to.id, txType: 'INBOUND' }
          return (await done('GET /v1/w3s/transactions', { query })).transactions[0]
        })
        requireEqual(inbound.txHash, transaction.txHash, 'txHash of the receiver')
        const left = await until('the sender has less', async () => {
          const amount = (await balancesOf(world, from)).find(
            ({ token }) => token.id === coins.token.id,
          )?.amount
          return amount !== undefined && atomic(amount) < atomic(coins.amount) ? amount : undefined
        })
        requireThat(
          atomic(coins.amount) - atomic(left) === paidAtomic,
          `the sender has ${left} of ${coins.amount} left`,
        )
      },
    },
  ],
}
