import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Attestation, encodeAttestation, encodeBurnIntent } from '#chains/crosschain/transfer-payload'
import { type TransferSpec, transferSpecHash } from '#chains/crosschain/transfer-spec'
import { hexOf } from '#lib/hex'
import type { TokenChain } from '../token-chain.ts'
import { malleated } from '../token-signatures.ts'
import {
  alice,
  bob,
  carol,
  domain,
  elsewhere,
  greatest,
  height,
  intentOf,
  issuer,
  mintArgs,
  minter,
  read,
  refusal,
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
let snapshot: Hex
beforeAll(async () => {
  chain = await startGatewayChain()
})
beforeEach(async () => {
  snapshot = await chain.client.snapshot()
})
afterEach(() => chain.client.revert({ id: snapshot }))
afterAll(() => chain?.stop())

const attestationOf = (changes: Partial<TransferSpec> = {}): Attestation => ({
  maxBlockHeight: greatest,
  spec: specOf({ sourceDomain: elsewhere, sourceToken: word(carol.address), ...changes }),
})
const mint = async (attestations: Attestation | readonly Attestation[], by = stranger) =>
  send(chain, by, minter, 'gatewayMint', await mintArgs(attestations))
const refused = async (attestations: Attestation | readonly Attestation[], by = stranger) =>
  refusal(chain, by, minter, 'gatewayMint', await mintArgs(attestations))

const used = ({ spec }: Attestation, changes: Record<string, unknown> = {}) => ({
  eventName: 'AttestationUsed',
  args: {
    token,
    recipient: bob.address,
    transferSpecHash: transferSpecHash(spec),
    sourceDomain: spec.sourceDomain,
    sourceDepositor: spec.sourceDepositor,
    sourceSigner: spec.sourceSigner,
    value: 100n,
    ...changes,
  },
})

describe('a mint', () => {
  it('creates the value at the recipient, whoever hands in the attestation, and works once', async () => {
    const attestation = attestationOf({ hookData: '0xabcdef' })
    const [supply, before] = [await read(chain, token, 'totalSupply'), await tokensOf(chain, bob.address)]
    expect(await mint(attestation)).toEqual([used(attestation)])
    expect(await tokensOf(chain, bob.address)).toBe(before + 100n)
    expect(await read(chain, token, 'totalSupply')).toBe(supply + 100n)
    const hash = transferSpecHash(attestation.spec)
    expect(await read<boolean>(chain, minter, 'isTransferSpecHashUsed', [hash])).toBe(true)
    expect(await refused(attestation)).toBe(`TransferSpecHashUsed(${hash})`)
  })

  it('of a set creates each value, or none when one is wrong', async () => {
    const toCarol = { destinationRecipient: word(carol.address), value: 7n }
    const set = [
      attestationOf(),
      attestationOf(toCarol),
      attestationOf({ sourceDomain: domain, sourceToken: word(token) }),
    ]
    expect(await mint(set)).toEqual([
      used(set[0]!),
      used(set[1]!, { recipient: carol.address, value: 7n }),
      used(set[2]!),
    ])
    const half = [attestationOf(), attestationOf({ value: 0n })]
    expect(await refused(half)).toBe('AttestationValueMustBePositiveAtIndex(1)')
    const twice = attestationOf()
    expect(await refused([twice, twice])).toBe(`TransferSpecHashUsed(${transferSpecHash(twice.spec)})`)
  })

  it('happens up to the last block of its attestation', async () => {
    const last = (await height(chain)) + 5n
    const attestation = { ...attestationOf(), maxBlockHeight: last }
    await chain.client.mine({ blocks: Number(last - 1n - (await height(chain))) })
    const before = await chain.client.snapshot()
    await mint(attestation)
    expect(await height(chain)).toBe(last)
    await chain.client.revert({ id: before })
    await chain.client.mine({ blocks: 1 })
    await expect(mint(attestation)).rejects.toThrow('reverted')
    expect(await refused(attestation)).toBe(`AttestationExpiredAtIndex(0,${last},${await height(chain)})`)
  })

  it('is handed in by the caller that it names', async () => {
    const attestation = attestationOf({ destinationCaller: word(carol.address) })
    expect(await refused(attestation)).toBe(
      `InvalidAttestationDestinationCallerAtIndex(0,${carol.address},${stranger.address})`,
    )
    expect(await mint(attestation, carol)).toEqual([used(attestation)])
  })

  it('is made by the mint authority where there is one', async () => {
    const attestation = attestationOf()
    const authority = '0x00000000000000000000000000000000000a0740'
    // PUSH1 0x20, PUSH1 0, RETURN: answers every call with 32 zero bytes, which means false.
    await chain.client.setCode({ address: authority, bytecode: '0x60206000f3' })
    await send(chain, issuer, minter, 'updateMintAuthority', [token, authority])
    expect(await refused(attestation)).toMatch(new RegExp(`^MintRefused\\(${token},${authority}\\)$`, 'i'))
    // PUSH1 1, PUSH1 0, MSTORE, and the same: true, without a mint.
    await chain.client.setCode({ address: authority, bytecode: '0x600160005260206000f3' })
    const before = await tokensOf(chain, bob.address)
    expect(await mint(attestation)).toEqual([used(attestation)])
    expect(await tokensOf(chain, bob.address)).toBe(before)
    await send(chain, issuer, minter, 'updateMintAuthority', [token, token])
    await mint(attestationOf())
    expect(await tokensOf(chain, bob.address)).toBe(before + 100n)
  })
})

describe('a mint is refused', () => {
  it('for a field that is wrong here, with the index of its attestation', async () => {
    const atSecond = (changes: Partial<TransferSpec>) => refused([attestationOf(), attestationOf(changes)])
    expect(await atSecond({ value: 0n })).toBe('AttestationValueMustBePositiveAtIndex(1)')
    expect(await atSecond({ destinationDomain: elsewhere })).toBe(
      `InvalidAttestationDestinationDomainAtIndex(1,${elsewhere},${domain})`,
    )
    expect(await atSecond({ destinationContract: word(wallet) })).toBe(
      `InvalidAttestationDestinationContractAtIndex(1,${wallet},${minter})`,
    )
    expect(await atSecond({ destinationToken: word(carol.address) })).toBe(
      `UnsupportedTokenAtIndex(1,${carol.address})`,
    )
    expect(await atSecond({ sourceDomain: domain })).toBe(
      `InvalidAttestationTokenAtIndex(1,${carol.address},${token})`,
    )
  })

  it('for a denied recipient or caller, and while the minter is paused', async () => {
    await send(chain, issuer, minter, 'denylist', [bob.address])
    const denied = `AccountDenylisted(${bob.address})`
    expect(await refused(attestationOf())).toBe(denied)
    const toCarol = attestationOf({ destinationRecipient: word(carol.address) })
    expect(await refused(toCarol, bob)).toBe(denied)
    await send(chain, issuer, minter, 'pause', [])
    expect(await refused(toCarol)).toBe('EnforcedPause()')
    await send(chain, issuer, minter, 'unpause', [])
    await mint(toCarol)
  })

  it('unless an attestation signer signed exactly these bytes', async () => {
    const attestation = attestationOf()
    const [payload, signature] = await mintArgs(attestation)
    const attempt = (args: readonly [Hex, Hex]) => refusal(chain, stranger, minter, 'gatewayMint', args)
    expect(await attempt(await mintArgs(attestation, alice))).toBe('InvalidAttestationSigner()')
    const more = encodeAttestation({ ...attestation, spec: { ...attestation.spec, value: 101n } })
    expect(await attempt([hexOf(more), signature])).toBe('InvalidAttestationSigner()')
    expect(await attempt([payload, malleated(signature)])).toMatch(/^ECDSAInvalidSignatureS/)
    expect(await attempt([payload, `${signature}00`])).toBe('ECDSAInvalidSignatureLength(66)')
  })

  it('for an empty set and for a burn intent in place of an attestation', async () => {
    expect(await refused([])).toBe('MustHaveAtLeastOneAttestation()')
    const intent = await signedArgs(hexOf(encodeBurnIntent(intentOf())))
    expect(await refusal(chain, stranger, minter, 'gatewayMint', intent)).toBe(
      'InvalidTransferPayloadMagic(0x070afbc2)',
    )
  })
})
