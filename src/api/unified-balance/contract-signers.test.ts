import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { burnIntentDigest } from '#chains/crosschain/burn-intent-typed-data'
import { knownCrosschainAddresses } from '#chains/evm/crosschain/index'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { Hex } from '#lib/hex'
import { sql } from '#runtime/db/db'
import { gatewaySignerAccount, issuerAccount } from '#sandbox/constants'
import { fickleSignerAbi, fickleSignerBytecode } from '#testing/artifacts/fickle-signer'
import { actorOn, deployOn } from '#testing/builders/any-tokens'
import {
  contractSigned,
  intentOf,
  people,
  signedIntent,
  specOf,
  type UnifiedBalances,
  unifiedBalances,
  wallet,
  word,
} from '#testing/builders/unified-balances'
import { followedMining } from '#testing/nodes/followed-mining'
import { type Harness, openHarness } from '#testing/platform/harness'
import { mineUntil, until } from '#testing/platform/until'

/* Contracts that sign: BASE-SEPOLIA waits for finality as a public chain does; AVAX-FUJI is final at once. */
let harness: Harness
let unified: UnifiedBalances
/** Accepts every signature at first. */
let fickle: Hex
beforeAll(async () => {
  harness = await openHarness({
    blockchains: ['BASE-SEPOLIA', 'AVAX-FUJI'],
    node: async ({ blockchain }) =>
      blockchain === 'BASE-SEPOLIA'
        ? { local: false, crosschain: knownCrosschainAddresses(baseSepolia) }
        : {},
  })
  unified = unifiedBalances(harness)
  fickle = await deployOn(base(), fickleSignerBytecode)
  await unified.payFor(base(), alice.address, fickle, 50_000_000n)
  await mine(async () => (await unified.balance(base(), fickle)) === '50', 'the contract has a balance')
})
afterAll(() => harness?.close())

const base = () => harness.chain('BASE-SEPOLIA')
const avax = () => harness.chain('AVAX-FUJI')
const [alice, bob] = people as unknown as [(typeof people)[0], (typeof people)[0]]
const mine = (check: () => Promise<boolean>, what: string) =>
  mineUntil(followedMining(harness, base()), check, what)

const moods = [
  'accepts',
  'refuses',
  'reverts',
  'burns gas',
  'halts',
  'answers nothing',
  'answers garbage',
  'answers less than a word',
  'answers too much',
] as const
const become = async (mood: (typeof moods)[number]) => {
  const args = [moods.indexOf(mood)] as const
  await actorOn(base())({
    to: fickle,
    data: encodeFunctionData({ abi: fickleSignerAbi, functionName: 'become', args }),
  })
  const height = await base().height()
  await until(
    async () =>
      (await harness.database.maybe(sql`select 1 from blocks where blockchain = 'BASE-SEPOLIA' and canonical
        and number >= ${height}`)) !== undefined,
    'the change is followed',
  )
}
const settle = async () => {
  const height = await base().height()
  await mine(async () => {
    const row = await harness.database.one<{ final: number }>(
      sql`select final from unified_heights where blockchain = 'BASE-SEPOLIA'`,
    )
    return row.final >= height
  }, 'the change is final')
}

const spec = (changes: Parameters<typeof specOf>[3] = {}) =>
  specOf(base(), avax(), fickle, { destinationRecipient: word(bob.address), ...changes })
const body = (changes: Parameters<typeof specOf>[3] = {}, signature = '0x') => [
  contractSigned(intentOf(spec(changes)), signature),
]

/** Sends it and checks that nothing was reserved, recorded or signed. */
async function refusal(given: unknown): Promise<[number, number, string]> {
  const counts = () =>
    harness.database.one(sql`select (select count(*) from unified_transfers) as transfers,
      (select count(*) from attestation_signatures) as signatures, (select sum(available) from unified_balances) as sum`)
  const before = await counts()
  const answer = await unified.transfer(given)
  expect(await counts()).toEqual(before)
  return [answer.status, answer.body.code, answer.body.errors?.[0]?.message ?? answer.body.message]
}

let isPaid = false
/** Gives the treasury that burns its gas, which a public chain has no faucet for. */
async function payGas(): Promise<void> {
  if (isPaid) return
  const treasury = () =>
    harness.database.maybe<{ address: string }>(
      sql`select address from treasuries where blockchain = 'BASE-SEPOLIA'`,
    )
  await mine(async () => (await treasury()) !== undefined, 'there is a treasury')
  await harness.fundWallet((await treasury())!.address, { native: '5', blockchain: 'BASE-SEPOLIA' })
  isPaid = true
}

/** Mints what was attested, and waits until the wallet contract burned it for the contract. */
async function mintAndBurn({ transferId, attestation, signature }: Record<string, Hex>): Promise<void> {
  const supply = async () => (await unified.supply(base())) + (await unified.supply(avax()))
  const before = await supply()
  await unified.mint(avax(), { attestation: attestation!, signature: signature! })
  await payGas()
  await mine(async () => {
    const { left } = await harness.database.one<{ left: number }>(
      sql`select count(*)::integer as left from unified_intents where transfer_id = ${transferId!} and state <> 'burned'`,
    )
    return left === 0
  }, 'the transfer is burned')
  expect(await supply()).toBe(before)
}

describe('property 246: a contract that signs', () => {
  const refused = [400, 178004, expect.stringContaining('does not take the signature for its own')]

  it.each(moods.slice(1))('and %s is refused, and nothing is reserved', async (mood) => {
    await become(mood)
    expect(await refusal(body())).toEqual(refused)
  })

  it('counts when its acceptance is final, and until a block takes that back', async () => {
    await become('refuses')
    await settle()
    await become('accepts')
    expect(await refusal(body())).toEqual(refused)
    await settle()
    const answer = await unified.transfer(body())
    expect(answer.status).toBe(201)
    await become('refuses')
    expect((await refusal(body()))[1]).toBe(178004)
    await become('accepts')
    await settle()
  })

  it('is burned by what it signed once, whatever it answers later, and even without code', async () => {
    const signed = body({ value: 3_000_000n }, '0xfeed')
    const first = await unified.transfer(signed)
    expect(first.status).toBe(201)
    // The same request has the same attestation, from now on without the contract.
    await become('reverts')
    expect((await unified.transfer(signed)).body).toEqual(first.body)
    const code = await base().rpc('eth_getCode', [fickle, 'latest'])
    await base().rpc('anvil_setCode', [fickle, '0x'])
    const available = () => unified.read(base(), wallet, 'availableBalance', [base().tokens.USDC, fickle])
    const before = await available()
    await mintAndBurn(first.body)
    expect(before - (await available())).toBe(3_010_150n)
    await base().rpc('anvil_setCode', [fickle, code])
    await become('accepts')
    await settle()
  })

  it('spends no more than its balance, in however many requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => unified.transfer(body({ value: 10_000_000n }))),
    )
    const made = answers.filter(({ status }) => status === 201)
    expect(new Set(answers.map(({ status, body: { code } }) => code ?? status))).toEqual(
      new Set([201, 178001]),
    )
    for (const each of made) await mintAndBurn(each.body)
    const held = await unified.read(base(), wallet, 'availableBalance', [base().tokens.USDC, fickle])
    expect(held).toBeGreaterThanOrEqual(0n)
    expect(held).toBeLessThan(10_010_500n)
  })

  it('spends the balance of others only as their delegate', async () => {
    await unified.pay(base(), alice.address, 5_000_000n)
    await mine(async () => (await unified.balance(base(), alice.address)) === '5', 'the deposit counts')
    const ofAlice = { sourceDepositor: word(alice.address) }
    expect((await refusal(body(ofAlice)))[1]).toBe(178003)
    await unified.callWallet(base(), alice.address, 'addDelegate', [base().tokens.USDC, fickle])
    await settle()
    const answer = await unified.transfer(body(ofAlice))
    expect(answer.status).toBe(201)
    await mintAndBurn(answer.body)
    // A key of the depositor signs for no contract, nor the contract for the key.
    const asKey = await signedIntent(alice, intentOf(spec(ofAlice)))
    expect((await refusal([asKey]))[2]).toContain('contractSigner: true')
  })

  it('has to be deployed', async () => {
    await unified.pay(base(), bob.address, 5_000_000n)
    await mine(async () => (await unified.balance(base(), bob.address)) === '5', 'the deposit counts')
    const ofBob = intentOf(specOf(base(), avax(), bob.address))
    const signature = await bob.sign({ hash: burnIntentDigest(ofBob) })
    const [, code, text] = await refusal([contractSigned(ofBob, signature)])
    expect([code, text]).toEqual([178004, expect.stringContaining('ERC-6492')])
  })

  it('is refused where the wallet contract would not burn for it', async () => {
    const owner = issuerAccount.address as Hex
    await base().rpc('anvil_setBalance', [owner, '0xde0b6b3a7640000'])
    const set = (functionName: 'addContractSignatureSigner' | 'removeContractSignatureSigner') =>
      actorOn(base())(
        {
          to: wallet,
          data: encodeFunctionData({
            abi: gatewayWalletAbi,
            functionName,
            args: [gatewaySignerAccount.address],
          }),
        },
        owner,
      )
    await set('removeContractSignatureSigner')
    const [, code, text] = await refusal(body())
    expect([code, text]).toEqual([178004, expect.stringContaining('does not let this server sign')])
    await set('addContractSignatureSigner')
  })
})
