import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BurnIntent, encodeBurnIntent, encodeBurnIntentSet } from '#chains/crosschain/transfer-payload'
import { type TransferSpec, transferSpecHash } from '#chains/crosschain/transfer-spec'
import { burnPayload } from '#chains/evm/unified-balance/calls'
import { baseSepolia } from '#chains/networks/base-sepolia'
import type { TokenChain } from '../token-chain.ts'
import { malleated } from '../token-signatures.ts'
import {
  alice,
  type Burn,
  bob,
  burnArgs,
  burnOf,
  carol,
  elsewhere,
  greatest,
  height,
  holding,
  intentOf,
  issuer,
  minter,
  read,
  refusal,
  send,
  signedArgs,
  startGatewayChain,
  stranger,
  token,
  tokensOf,
  wallet,
  word,
} from './gateway-chain.ts'

let chain: TokenChain
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
  await send(chain, alice, wallet, 'deposit', [token, 1_000n])
  await send(chain, bob, wallet, 'deposit', [token, 500n])
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const burn = async (...burns: Burn[]) => send(chain, stranger, wallet, 'gatewayBurn', await burnArgs(burns))
const refused = async (...burns: Burn[]) =>
  refusal(chain, stranger, wallet, 'gatewayBurn', await burnArgs(burns))
const isUsed = ({ spec }: BurnIntent) =>
  read<boolean>(chain, wallet, 'isTransferSpecHashUsed', [transferSpecHash(spec)])

const burned = ({ spec }: BurnIntent, changes: Record<string, unknown> = {}) => ({
  eventName: 'GatewayBurned',
  args: {
    token,
    depositor: alice.address,
    transferSpecHash: transferSpecHash(spec),
    destinationDomain: spec.destinationDomain,
    destinationRecipient: spec.destinationRecipient,
    signer: alice.address,
    value: 100n,
    fee: 5n,
    fromAvailable: 105n,
    fromWithdrawing: 0n,
    ...changes,
  },
})

/** The supply, the fees and the tokens of the wallet. */
const books = async () => ({
  supply: await read(chain, token, 'totalSupply'),
  fees: await tokensOf(chain, issuer.address),
  held: await tokensOf(chain, wallet),
})

describe('a burn', () => {
  it('takes value and fee, pays the fee, destroys the rest, and works once', async () => {
    const intent = intentOf({ destinationDomain: elsewhere, hookData: '0x1234' })
    const before = await books()
    const one = await burnOf(alice, intent, [5n])
    expect(await burn(one)).toEqual([burned(intent)])
    expect(await books()).toEqual({
      supply: before.supply - 100n,
      fees: before.fees + 5n,
      held: before.held - 105n,
    })
    expect(await holding(chain, alice)).toEqual({ available: 895n, withdrawing: 0n })
    expect(await isUsed(intent)).toBe(true)
    expect(await refused(one)).toBe(`TransferSpecHashUsed(${transferSpecHash(intent.spec)})`)
  })

  it('of a set and of single intents takes from each depositor, in one call', async () => {
    const ofAlice = [intentOf(), intentOf({ value: 200n })]
    const ofBob = intentOf({ sourceDepositor: word(bob.address), sourceSigner: word(bob.address) })
    const before = await books()
    const events = await burn(await burnOf(alice, ofAlice, [5n, 10n]), await burnOf(bob, ofBob, [0n]))
    expect(events).toEqual([
      burned(ofAlice[0]!),
      burned(ofAlice[1]!, { value: 200n, fee: 10n, fromAvailable: 210n }),
      burned(ofBob, { depositor: bob.address, signer: bob.address, fee: 0n, fromAvailable: 100n }),
    ])
    expect(await books()).toEqual({
      supply: before.supply - 400n,
      fees: before.fees + 15n,
      held: before.held - 415n,
    })
  })

  it('passes over the intents of other domains, whatever they name and whether they expired', async () => {
    const foreign = { sourceDomain: elsewhere, sourceContract: word(carol.address), value: 7n }
    const away = { ...intentOf(foreign), maxBlockHeight: 0n }
    const here = intentOf()
    const set = await burnOf(alice, [away, here, away], [99n, 5n, 99n])
    expect(await burn(set)).toEqual([burned(here)])
    expect([await isUsed(here), await isUsed(away)]).toEqual([true, false])
    expect(await refused(await burnOf(alice, [away], [0n]))).toBe('NoRelevantBurnIntents()')
    expect(await refused(await burnOf(alice, intentOf(foreign), [0n]))).toBe('NoRelevantBurnIntents()')
  })

  it('takes the available balance first and then the withdrawing one', async () => {
    await send(chain, alice, wallet, 'initiateWithdrawal', [token, 950n])
    const intent = intentOf()
    expect(await burn(await burnOf(alice, intent, [5n]))).toEqual([
      burned(intent, { fromAvailable: 50n, fromWithdrawing: 55n }),
    ])
    expect(await holding(chain, alice)).toEqual({ available: 0n, withdrawing: 895n })
  })

  it.each([
    [1_000n, 10n, 1_000n, 0n],
    [995n, 10n, 995n, 5n],
    [1_200n, 10n, 1_000n, 0n],
  ])(
    'of %i with a fee of %i takes what there is: it burns %i and pays %i',
    async (value, fee, destroyed, paid) => {
      await send(chain, alice, wallet, 'initiateWithdrawal', [token, 300n])
      const intent = intentOf({ value })
      const before = await books()
      expect(await burn(await burnOf(alice, intent, [fee]))).toEqual([
        {
          eventName: 'InsufficientBalance',
          args: {
            token,
            depositor: alice.address,
            value: value + fee,
            availableBalance: 700n,
            withdrawingBalance: 300n,
          },
        },
        burned(intent, { value: destroyed, fee: paid, fromAvailable: 700n, fromWithdrawing: 300n }),
      ])
      expect(await books()).toEqual({
        supply: before.supply - destroyed,
        fees: before.fees + paid,
        held: before.held - destroyed - paid,
      })
    },
  )

  it('of an empty balance is refused, and can be made later', async () => {
    const intent = intentOf({ sourceDepositor: word(carol.address), sourceSigner: word(carol.address) })
    const one = await burnOf(carol, intent, [0n])
    expect(await refused(one)).toBe('NoRelevantBurnIntents()')
    await send(chain, alice, wallet, 'depositFor', [token, carol.address, 100n])
    await burn(one)
  })

  it('is signed by the depositor, by a delegate, also a removed one, and by no stranger', async () => {
    const byBob = { sourceSigner: word(bob.address) }
    const one = await burnOf(bob, intentOf(byBob), [5n])
    expect(await refused(one)).toBe('NotAuthorized()')
    await send(chain, alice, wallet, 'addDelegate', [token, bob.address])
    const intent = intentOf(byBob)
    expect(await burn(await burnOf(bob, intent, [5n]))).toEqual([burned(intent, { signer: bob.address })])
    await send(chain, alice, wallet, 'removeDelegate', [token, bob.address])
    await burn(one)
    expect(await refused(await burnOf(bob, intentOf(), [5n]))).toBe(
      `InvalidIntentSourceSignerAtIndex(0,${alice.address},${bob.address})`,
    )
  })

  it('is signed in the name of contracts, or of any other account, by the signer for contracts alone', async () => {
    const one = intentOf()
    const set = [
      intentOf({ sourceDepositor: word(bob.address), sourceSigner: word(bob.address) }),
      intentOf(),
    ]
    for (const signer of [carol, stranger])
      expect(await refused(await burnOf(signer, one, [5n]))).toBe(
        `InvalidIntentSourceSignerAtIndex(0,${alice.address},${signer.address})`,
      )
    await send(chain, issuer, wallet, 'addContractSignatureSigner', [carol.address])
    // The event names the account that the intent names, and each account needs its own authority.
    expect(await burn(await burnOf(carol, one, [5n]))).toEqual([burned(one)])
    expect(await burn(await burnOf(carol, set, [0n, 5n]))).toEqual([
      burned(set[0]!, { depositor: bob.address, signer: bob.address, fee: 0n, fromAvailable: 100n }),
      burned(set[1]!),
    ])
    expect(await refused(await burnOf(carol, intentOf({ sourceSigner: word(bob.address) }), [5n]))).toBe(
      'NotAuthorized()',
    )
    await send(chain, issuer, wallet, 'removeContractSignatureSigner', [carol.address])
    expect(await refused(await burnOf(carol, intentOf(), [5n]))).toBe(
      `InvalidIntentSourceSignerAtIndex(0,${alice.address},${carol.address})`,
    )
  })

  it('happens up to the last block of its intent', async () => {
    const last = (await height(chain)) + 5n
    const one = await burnOf(alice, { ...intentOf(), maxBlockHeight: last }, [5n])
    const args = await burnArgs([one])
    await chain.client.mine({ blocks: Number(last - 1n - (await height(chain))) })
    const before = await chain.client.snapshot()
    await send(chain, stranger, wallet, 'gatewayBurn', args)
    expect(await height(chain)).toBe(last)
    await chain.client.revert({ id: before })
    await chain.client.mine({ blocks: 1 })
    await expect(send(chain, stranger, wallet, 'gatewayBurn', args)).rejects.toThrow('reverted')
    expect(await refused(one)).toBe(`IntentExpiredAtIndex(0,${last},${await height(chain)})`)
  })
})

describe('a burn is refused', () => {
  const atSecond = async (changes: Partial<TransferSpec>, fee = 0n) =>
    refused(await burnOf(alice, [intentOf(), intentOf(changes)], [0n, fee]))

  it('for a field that is wrong here, with the index of its intent', async () => {
    expect(await atSecond({ value: 0n })).toBe('IntentValueMustBePositiveAtIndex(1)')
    expect(await atSecond({ value: 0n, sourceDomain: elsewhere })).toBe('IntentValueMustBePositiveAtIndex(1)')
    expect(await atSecond({ sourceContract: word(minter) })).toBe(
      `InvalidIntentSourceContractAtIndex(1,${minter},${wallet})`,
    )
    expect(await atSecond({ sourceToken: word(carol.address) })).toBe(
      `UnsupportedTokenAtIndex(1,${carol.address})`,
    )
    expect(await atSecond({ sourceSigner: word(bob.address) })).toBe(
      `InvalidIntentSourceSignerAtIndex(1,${bob.address},${alice.address})`,
    )
    expect(await atSecond({ sourceDepositor: word(bob.address) })).toBe('NotAuthorized()')
    expect(await atSecond({}, 11n)).toBe('BurnFeeTooHighAtIndex(1,10,11)')
    expect(await atSecond({ value: greatest }, 1n)).toMatch(/^Panic\(17\)/)
  })

  it('for two tokens under one signature', async () => {
    const eurc = baseSepolia.tokens.find(({ symbol }) => symbol === 'EURC')!.address as Hex
    await send(chain, issuer, wallet, 'addSupportedToken', [eurc])
    expect(await atSecond({ sourceToken: word(eurc) })).toBe('NotAllSameToken()')
  })

  it('without intents, and with lists of different lengths', async () => {
    const empty = { intents: encodeBurnIntentSet({ intents: [] }), signature: '0x', feesAtomic: [] } as const
    expect(await refused()).toBe('MustHaveAtLeastOneBurnIntent()')
    expect(await refused(empty)).toBe('MustHaveAtLeastOneBurnIntent()')
    expect(await refused(await burnOf(alice, intentOf(), []))).toBe('MismatchedBurn()')
    expect(await refused(await burnOf(alice, [intentOf()], [1n, 1n]))).toBe('MismatchedBurn()')
    const right = burnPayload([await burnOf(alice, intentOf(), [0n])])
    // The offset of the signatures leads to the empty list at the end.
    const zeros = '0'.repeat(64)
    const length = ((right.length - 2) / 2).toString(16).padStart(64, '0')
    const without: Hex = `0x${right.slice(2, 66)}${length}${right.slice(130)}${zeros}`
    expect(await refusal(chain, stranger, wallet, 'gatewayBurn', await signedArgs(without))).toBe(
      'MismatchedBurn()',
    )
  })

  it('unless a burn signer signed exactly these bytes', async () => {
    const one = await burnOf(alice, intentOf(), [5n])
    const [payload, signature] = await burnArgs([one])
    const attempt = (args: readonly [Hex, Hex]) => refusal(chain, stranger, wallet, 'gatewayBurn', args)
    expect(await attempt(await burnArgs([one], alice))).toBe('InvalidBurnSigner()')
    expect(await attempt([burnPayload([{ ...one, feesAtomic: [6n] }]), signature])).toBe(
      'InvalidBurnSigner()',
    )
    expect(await attempt([payload, '0x'])).toBe('ECDSAInvalidSignatureLength(0)')
    expect(await attempt([payload, malleated(signature)])).toMatch(/^ECDSAInvalidSignatureS/)
    expect(await attempt([payload, `0x${'00'.repeat(65)}`])).toBe('ECDSAInvalidSignature()')
  })

  it('when the intent is not the signed one', async () => {
    const intent = intentOf()
    const { signature } = await burnOf(alice, intent, [0n])
    const more = encodeBurnIntent({ ...intent, spec: { ...intent.spec, value: 101n } })
    expect(await refused({ intents: more, signature, feesAtomic: [0n] })).toMatch(
      new RegExp(`^InvalidIntentSourceSignerAtIndex\\(0,${alice.address},`),
    )
    const inSet = { intents: encodeBurnIntentSet({ intents: [intent] }), signature, feesAtomic: [0n] }
    expect(await refused(inSet)).toMatch(/^InvalidIntentSourceSignerAtIndex/)
    const malleable = { intents: encodeBurnIntent(intent), signature: malleated(signature), feesAtomic: [0n] }
    expect(await refused(malleable)).toMatch(/^ECDSAInvalidSignatureS/)
  })

  it('twice within one set, and while the wallet is paused', async () => {
    const intent = intentOf()
    expect(await refused(await burnOf(alice, [intent, intent], [0n, 0n]))).toBe(
      `TransferSpecHashUsed(${transferSpecHash(intent.spec)})`,
    )
    const one = await burnOf(alice, intent, [0n])
    await send(chain, issuer, wallet, 'pause', [])
    expect(await refused(one)).toBe('EnforcedPause()')
  })
})
