/**
 * A second engine, the bank of a validator, executes the same transactions: outcomes, fees and balances are the same. It is of an
 * older version, and judges what has not changed since.
 */
import { PublicKey, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import type { ProgramTestContext } from 'solana-bankrun'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import type { WrittenInstruction } from '#chains/solana/compile'
import {
  advanceNonce,
  createNonce,
  newSolanaAccount,
  payLamports,
  type SolanaAccount,
  signedTransaction,
} from '#testing/builders/solana-accounts'
import { solanaData, solanaPrograms } from '#testing/builders/solana-transactions'
import { openSolanaNode, type SolanaNode } from './index.ts'
import { acceptTransaction, headBlock } from './ledger.ts'
import { receive } from './received.ts'

const funds = 10n ** 9n
const payers = [newSolanaAccount(), newSolanaAccount()] as const
let node: SolanaNode
let bank: ProgramTestContext

beforeAll(async () => {
  if (!hasBank) return
  process.env['RUST_LOG'] = 'error'
  const { start } = await import('solana-bankrun')
  node = await openSolanaNode({ chainId: 103, directory: undefined, clock: Date.now, blocks: 'by_hand' })
  const info = {
    lamports: Number(funds),
    data: Buffer.alloc(0),
    owner: new PublicKey(solanaPrograms.system),
    executable: false,
  }
  bank = await start(
    [],
    payers.map(({ address }) => ({ address: new PublicKey(address), info })),
  )
  for (const { address } of payers) node.fund(address, funds)
  node.mine()
})
afterAll(() => node?.close())

type Signers = readonly [SolanaAccount, ...SolanaAccount[]]

/** Executes a transaction in a block; undefined where no block can have it. */
function executeHere(signers: Signers, instructions: readonly WrittenInstruction[], blockhash?: string) {
  const ledger = node.ledger()
  const wire = signedTransaction(signers, instructions, blockhash ?? headBlock(ledger).hash)
  acceptTransaction(ledger, receive(wire), false)
  return node.mine().transactions[0]
}

/** Executes it in the other engine. Returns whether it succeeded. */
async function executeThere(
  signers: Signers,
  instructions: readonly WrittenInstruction[],
  blockhash?: string,
): Promise<boolean> {
  const [latest] = (await bank.banksClient.getLatestBlockhash('processed'))!
  const wire = signedTransaction(signers, instructions, blockhash ?? latest)
  const { result } = await bank.banksClient.tryProcessTransaction(VersionedTransaction.deserialize(wire))
  bank.warpToSlot((await bank.banksClient.getSlot('processed')) + 1n)
  return result === null
}

const lamportsHere = (address: string) => node.ledger().vm.account(address)?.lamports ?? 0n
const lamportsThere = (address: string) => bank.banksClient.getBalance(new PublicKey(address), 'processed')

const budget = (data: Buffer): WrittenInstruction => ({
  program: solanaPrograms.computeBudget,
  accounts: [],
  data,
})

/** The second engine has no package for Linux on arm64. */
const hasBank = process.platform === 'darwin' || process.arch === 'x64'

describe.runIf(hasBank)('the bank of a validator agrees', () => {
  it('on transfers around the rent of an account, and on their fees', async () => {
    const known = Array.from({ length: 3 }, newSolanaAccount)
    const amount = fc.constantFrom(
      0n,
      1n,
      5_000n,
      890_879n,
      890_880n,
      890_881n,
      2_000_000n,
      funds,
      10n ** 12n,
    )
    const tip = fc.record({
      price: fc.bigInt({ min: 0n, max: 5_000_000n }),
      units: fc.integer({ min: 1_000, max: 300_000 }),
    })
    const transfer = fc.record({
      payer: fc.constantFrom(...payers),
      amounts: fc.array(fc.tuple(fc.nat(3), amount), { minLength: 1, maxLength: 3 }),
      tip: fc.option(tip),
    })
    await fc.assert(
      fc.asyncProperty(transfer, async ({ payer, amounts, tip }) => {
        const targets = [...known, newSolanaAccount()].map(({ address }) => address)
        const instructions = [
          ...(tip ? [solanaData.unitLimit(tip.units), solanaData.unitPrice(tip.price)].map(budget) : []),
          ...amounts.map(([to, lamports]) => payLamports(payer.address, targets[to]!, lamports)),
        ]
        const executed = executeHere([payer], instructions)!
        const isSuccess = executed.outcome.error === undefined
        expect(await executeThere([payer], instructions)).toBe(isSuccess)
        const addresses = [...payers.map(({ address }) => address), ...targets]
        expect(addresses.map(lamportsHere)).toEqual(await Promise.all(addresses.map(lamportsThere)))
        const paid = isSuccess ? amounts.reduce((sum, [, lamports]) => sum + lamports, 0n) : 0n
        expect(executed.before.lamports[0]! - executed.after.lamports[0]!).toBe(executed.feeLamports + paid)
      }),
      { numRuns: 60 },
    )
  })

  it('on durable nonces, which a failed transaction advances for its fee', async () => {
    const [payer] = payers
    const nonce = newSolanaAccount()
    const creation = createNonce(payer.address, nonce.address, 1_447_680n)
    expect(executeHere([payer, nonce], creation)!.outcome.error).toBeUndefined()
    expect(await executeThere([payer, nonce], creation)).toBe(true)
    node.mine()

    const valueIn = (data: Uint8Array) => encodeBase58(data.subarray(40, 72))
    const valueHere = () => valueIn(node.ledger().vm.account(nonce.address)!.data)
    const valueThere = async () =>
      valueIn((await bank.banksClient.getAccount(new PublicKey(nonce.address), 'processed'))!.data)
    const failing = [
      advanceNonce(nonce.address, payer.address),
      payLamports(payer.address, newSolanaAccount().address, 10n ** 15n),
    ]
    const values = [valueHere(), await valueThere()]
    const before = [lamportsHere(payer.address), await lamportsThere(payer.address)]
    expect(executeHere([payer], failing, values[0])!.outcome.error).toEqual({
      InstructionError: [1, { Custom: 1 }],
    })
    expect(await executeThere([payer], failing, values[1])).toBe(false)
    expect(valueHere()).not.toBe(values[0])
    expect(await valueThere()).not.toBe(values[1])
    expect([lamportsHere(payer.address), await lamportsThere(payer.address)]).toEqual(
      before.map((lamports) => lamports - 5_000n),
    )
    // The value that is gone carries out nothing more.
    expect(executeHere([payer], failing, values[0])).toBeUndefined()
    expect(await executeThere([payer], failing, values[1])).toBe(false)
    expect([lamportsHere(payer.address), await lamportsThere(payer.address)]).toEqual(
      before.map((lamports) => lamports - 5_000n),
    )
  })
})
