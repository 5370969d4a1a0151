import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeAttestation } from '#chains/crosschain/transfer-payload'
import { transferSpecHash } from '#chains/crosschain/transfer-spec'
import { hexOf } from '#lib/hex'
import { sizeOf } from '#testing/runner/size'
import type { TokenChain } from '../token-chain.ts'
import {
  alice,
  bob,
  burnArgs,
  burnOf,
  carol,
  type GatewayEvent,
  greatest,
  height,
  holding,
  intentOf,
  issuer,
  minter,
  read,
  refusalIfAny,
  send,
  signedArgs,
  specOf,
  startGatewayChain,
  stranger,
  token,
  tokensOf,
  wallet,
  word,
} from './gateway-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startGatewayChain()
  await send(chain, carol, token, 'approve', [wallet, greatest])
  await send(chain, issuer, wallet, 'updateWithdrawalDelay', [delayBlocks])
})
afterAll(() => chain?.stop())

const delayBlocks = 3n
const depositors = [alice, bob, carol]
const who = fc.integer({ min: 0, max: depositors.length - 1 })
const value = fc.bigInt({ min: 0n, max: 300n })
const fee = fc.bigInt({ min: 0n, max: 12n })
const salt = fc.constantFrom(...[1, 2, 3].map((digit) => `0x${String(digit).repeat(64)}` as const))
const step = fc.record({
  kind: fc.constantFrom('deposit', 'deposit', 'initiate', 'withdraw', 'burn', 'burn', 'mint', 'again'),
  who,
  value,
  fee,
  salt,
})
/** `again` repeats the transfer that was accepted last. */
type Step = typeof step extends fc.Arbitrary<infer drawn> ? drawn : never

type Model = {
  holdings: { available: bigint; withdrawing: bigint; block: bigint }[]
  /** Tokens outside the wallet. */
  outside: bigint[]
  fees: bigint
  supply: bigint
  burned: Set<string>
  minted: Set<string>
}

async function opening(): Promise<Model> {
  const outside = await Promise.all(depositors.map(({ address }) => tokensOf(chain, address)))
  return {
    holdings: depositors.map(() => ({ available: 0n, withdrawing: 0n, block: 0n })),
    outside,
    fees: await tokensOf(chain, issuer.address),
    supply: await read(chain, token, 'totalSupply'),
    burned: new Set(),
    minted: new Set(),
  }
}

/** The outcome that the contracts must have in a block of this number; false for a refusal. */
function apply(model: Model, { kind, who, value, fee, salt }: Step, block: bigint): boolean {
  const holding = model.holdings[who]!
  const transfer = `${who} ${value} ${salt}`
  if (kind === 'deposit') {
    if (value === 0n || value > model.outside[who]!) return false
    model.outside[who]! -= value
    holding.available += value
  } else if (kind === 'initiate') {
    if (value === 0n || value > holding.available) return false
    holding.available -= value
    holding.withdrawing += value
    holding.block = block + delayBlocks
  } else if (kind === 'withdraw') {
    if (holding.block > block || holding.withdrawing === 0n) return false
    model.outside[who]! += holding.withdrawing
    Object.assign(holding, { withdrawing: 0n, block: 0n })
  } else if (kind === 'mint') {
    if (value === 0n || model.minted.has(transfer)) return false
    model.minted.add(transfer)
    model.outside[who]! += value
    model.supply += value
  } else {
    const taken = lesser(value + fee, holding.available + holding.withdrawing)
    if (value === 0n || fee > 10n || taken === 0n || model.burned.has(transfer)) return false
    model.burned.add(transfer)
    const fromAvailable = lesser(taken, holding.available)
    holding.available -= fromAvailable
    holding.withdrawing -= taken - fromAvailable
    const destroyed = lesser(taken, value)
    model.supply -= destroyed
    model.fees += taken - destroyed
  }
  return true
}

const lesser = (one: bigint, other: bigint) => (one < other ? one : other)

/** The events, or undefined for a refusal, which takes a block too. */
async function perform(step: Step): Promise<GatewayEvent[] | undefined> {
  const person = depositors[step.who]!
  if (step.kind === 'deposit') return attempt(person, wallet, 'deposit', [token, step.value])
  if (step.kind === 'initiate') return attempt(person, wallet, 'initiateWithdrawal', [token, step.value])
  if (step.kind === 'withdraw') return attempt(person, wallet, 'withdraw', [token])
  if (step.kind === 'burn') return attempt(stranger, wallet, 'gatewayBurn', await burning(step))
  return attempt(stranger, minter, 'gatewayMint', await minting(step))
}

async function burning({ who, value, fee, salt }: Step) {
  const { address } = depositors[who]!
  const names = { sourceDepositor: word(address), sourceSigner: word(address) }
  return burnArgs([await burnOf(depositors[who]!, intentOf({ ...names, value, salt }), [fee])])
}

const minting = ({ who, value, salt }: Step) => {
  const spec = specOf({ destinationRecipient: word(depositors[who]!.address), value, salt })
  return signedArgs(hexOf(encodeAttestation({ maxBlockHeight: greatest, spec })))
}

/** The refusal is asked for in the latest block, so that an empty one takes the place of the next. */
async function attempt(...call: [typeof alice, `0x${string}`, string, readonly unknown[]]) {
  await chain.client.mine({ blocks: 1 })
  if ((await refusalIfAny(chain, ...call)) !== undefined) return undefined
  return send(chain, ...call)
}

async function books(): Promise<Omit<Model, 'burned' | 'minted'>> {
  return {
    holdings: await Promise.all(
      depositors.map(async (person) => ({
        ...(await holding(chain, person)),
        block: await read(chain, wallet, 'withdrawalBlock', [token, person.address]),
      })),
    ),
    outside: await Promise.all(depositors.map(({ address }) => tokensOf(chain, address))),
    fees: await tokensOf(chain, issuer.address),
    supply: await read(chain, token, 'totalSupply'),
  }
}

const runs = sizeOf('GATEWAY_INVARIANT_RUNS', { usual: 8, deep: 200 })

it('the wallet owns the sum of all balances, supply is conserved, and no transfer takes place twice', async () => {
  const outcomes = { accepted: 0, refused: 0, again: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const snapshot = await chain.client.snapshot()
      const model = await opening()
      const hashes: string[] = []
      let last: Step | undefined
      for (const drawn of steps) {
        const each = drawn.kind === 'again' ? last : drawn
        if (each === undefined) continue
        if (drawn.kind === 'again') outcomes.again++
        const events = await perform(each)
        const expected = apply(model, each, await height(chain))
        expect([each, events !== undefined]).toEqual([each, expected])
        if (expected && (each.kind === 'burn' || each.kind === 'mint')) last = each
        outcomes[expected ? 'accepted' : 'refused']++
        for (const { eventName, args } of events ?? [])
          if (args['transferSpecHash']) hashes.push(`${eventName} ${args['transferSpecHash']}`)
        const { burned: _, minted: __, ...figures } = model
        const seen = await books()
        expect(seen).toEqual(figures)
        const total = seen.holdings.reduce(
          (sum, { available, withdrawing }) => sum + available + withdrawing,
          0n,
        )
        const held = await tokensOf(chain, wallet)
        expect(held).toBe(total)
        expect(seen.supply).toBe(held + seen.fees + seen.outside.reduce((sum, each) => sum + each, 0n))
      }
      expect(new Set(hashes).size).toBe(hashes.length)
      await chain.client.revert({ id: snapshot })
    }),
    // Shrinking would start on a chain that the failed run left changed.
    { numRuns: runs, endOnFailure: true },
  )
  expect(outcomes.accepted).toBeGreaterThan(2 * runs)
  expect(outcomes.refused).toBeGreaterThan(runs)
  expect(outcomes.again).toBeGreaterThan(0)
})

it('the hash of a transfer counts once in the wallet and once in the minter', async () => {
  const drawn: Step = { kind: 'burn', who: 0, value: 5n, fee: 0n, salt: `0x${'9'.repeat(64)}` }
  await send(chain, alice, wallet, 'deposit', [token, 10n])
  const spec = specOf({ value: drawn.value, salt: drawn.salt, destinationRecipient: word(alice.address) })
  const isUsed = (contract: `0x${string}`) =>
    read<boolean>(chain, contract, 'isTransferSpecHashUsed', [transferSpecHash(spec)])
  await send(chain, stranger, minter, 'gatewayMint', await minting(drawn))
  expect([await isUsed(wallet), await isUsed(minter)]).toEqual([false, true])
  const intent = { maxBlockHeight: greatest, maxFee: 0n, spec }
  await send(chain, stranger, wallet, 'gatewayBurn', await burnArgs([await burnOf(alice, intent, [0n])]))
  expect([await isUsed(wallet), await isUsed(minter)]).toEqual([true, true])
})
