import fc from 'fast-check'
import {
  encodeAbiParameters,
  type Hex,
  keccak256,
  stringToBytes,
  toEventSelector,
  toFunctionSelector,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  burnIntentDomain,
  burnIntentDomainSeparator,
  burnIntentHash,
  burnIntentSetHash,
  burnIntentTypeHashes,
} from '#chains/crosschain/burn-intent-typed-data'
import { MalformedTransfer } from '#chains/crosschain/malformed-transfer'
import {
  type BurnIntent,
  decodeAttestations,
  decodeBurnIntents,
  encodeAttestation,
  encodeAttestationSet,
  encodeBurnIntent,
  encodeBurnIntentSet,
} from '#chains/crosschain/transfer-payload'
import { type TransferSpec, transferMagics, transferSpecHash } from '#chains/crosschain/transfer-spec'
import { gatewayMinterAbi } from '#chains/evm/unified-balance/artifacts/gateway-minter'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import { bytesOf, hexOf } from '#lib/hex'
import { sizeOf } from '#testing/runner/size'
import type { TokenChain } from '../token-chain.ts'
import {
  alice,
  burnArgs,
  burnOf,
  domain,
  elsewhere,
  mintArgs,
  minter,
  read,
  refusal,
  refusalIfAny,
  send,
  signedArgs,
  specOf,
  startGatewayChain,
  stranger,
  token,
  wallet,
  word,
} from './gateway-chain.ts'

let chain: TokenChain
beforeAll(async () => {
  chain = await startGatewayChain()
})
afterAll(() => chain?.stop())

describe('the published constants', () => {
  it('are those of the codec and of the wallet', async () => {
    expect(burnIntentTypeHashes).toEqual({
      EIP712Domain: '0xb03948446334eb9b2196d5eb166f69b9d49403eb4a12f36de8d3f9f3cb8e15c3',
      TransferSpec: '0x44409c7ba8872720f5fc290d2788c2d70a3905b7ca1cdb2ffa152791a69e089b',
      BurnIntent: '0x8b99d17a83a2dd1add9fc2a450e22732c7e8564aa110ab99c20485a7a10ba37c',
      BurnIntentSet: '0xe30760cf7d79e3521ad1553a73a6c6f8d33226ea613eaa29ceda6de148fbd07a',
    })
    const separator = '0x23a37920eca61226c76d13c4462857a362147e4b18da665dba894fa297ae4f34'
    expect(burnIntentDomainSeparator).toBe(separator)
    expect(await read<Hex>(chain, wallet, 'domainSeparator')).toBe(separator)
    expect(await read<Hex>(chain, wallet, 'EIP712_DOMAIN_TYPE_HASH')).toBe(burnIntentTypeHashes.EIP712Domain)
    const { name, version } = burnIntentDomain
    const zero = `0x${'0'.repeat(40)}`
    expect(await read<unknown[]>(chain, wallet, 'eip712Domain')).toEqual([
      '0x03',
      name,
      version,
      0n,
      zero,
      `0x${'0'.repeat(64)}`,
      [],
    ])
    for (const [title, magic] of Object.entries(transferMagics))
      expect(keccak256(stringToBytes(`circle.gateway.${title}`)).slice(0, 10)).toBe(
        `0x${magic.toString(16).padStart(8, '0')}`,
      )
  })

  it('include the selectors of functions and the topics of events', () => {
    const abi = [...gatewayWalletAbi, ...gatewayMinterAbi]
    const selectors = abi.filter((item) => item.type === 'function').map((item) => toFunctionSelector(item))
    const topics = abi.filter((item) => item.type === 'event').map((item) => toEventSelector(item))
    expect(selectors).toEqual(
      expect.arrayContaining([
        '0x47e7ef24',
        '0xb3db428b',
        '0x8ef59739',
        '0x26a3fb30',
        '0x8a94d4fc',
        '0x438d4835',
        '0xe909ebfa',
        '0x020d308d',
        '0x74392bf3',
        '0xc8393ba9',
        '0x51cff8d9',
        '0x8ec3dbb9',
        '0xdf0c6690',
        '0xfefeec13',
        '0x9fb01cc5',
      ]),
    )
    expect(topics).toEqual(
      expect.arrayContaining([
        '0x4174a9435a04d04d274c76779cad136a41fde6937c56241c09ab9d3c7064a1a9',
        '0xe91cba149cb264c22b997b1a69e785ad1562a07f83318cd0c985ba1be6e66099',
        '0xf706b3b70da5d5dada9b3c7d9f14e4f6c280183742a82ea2f951653070b0f195',
        '0x5f9a559874d8abe05a98d167b78d2012697505ea3e7bcdba906e7b6084014c65',
        '0xb00382203b46c3b6ad0a2d7af0268e334bd9406256a7c7ba8f7fc8bc47f8cde9',
        '0x12ee2719e7e2dec9f2a0041286b66669153dff0d36719f692b8bbaa4dfe0aa87',
        '0x5fab62745de032ad35a05146c51710fd80871be06cb193722c40f011df352f0c',
        '0xbb312ce0cc311b2cb0746e09ccd2f91fdb9e2ac755d2f11c65300eb0d0fffd63',
      ]),
    )
  })
})

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(hexOf)
const uint32 = fc.oneof(fc.constantFrom(0, 1, 0xffff_ffff), fc.integer({ min: 0, max: 0xffff_ffff }))
const uint256 = fc.oneof(fc.constantFrom(0n, 2n ** 256n - 1n), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }))
const spec: fc.Arbitrary<TransferSpec> = fc.record({
  version: fc.constant(1),
  sourceDomain: uint32,
  destinationDomain: uint32,
  sourceContract: bytes32,
  destinationContract: bytes32,
  sourceToken: bytes32,
  destinationToken: bytes32,
  sourceDepositor: bytes32,
  destinationRecipient: bytes32,
  sourceSigner: bytes32,
  destinationCaller: bytes32,
  value: uint256,
  salt: bytes32,
  hookData: fc.uint8Array({ maxLength: 100 }).map(hexOf),
})
const intent: fc.Arbitrary<BurnIntent> = fc.record({ maxBlockHeight: uint256, maxFee: uint256, spec })
const attestation = fc.record({ maxBlockHeight: uint256, spec })

const runs = { numRuns: sizeOf('GATEWAY_CODEC_RUNS', { usual: 60, deep: 5_000 }) }
const onChain = (bytes: Uint8Array) => read<Hex>(chain, wallet, 'getTypedDataHash', [hexOf(bytes)])

describe('the contracts and the codec agree', () => {
  it('on the typed data of intents and sets', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(intent, { maxLength: 4 }), async (intents) => {
        const set = { intents }
        expect(await onChain(encodeBurnIntentSet(set))).toBe(burnIntentSetHash(set))
        expect(decodeBurnIntents(encodeBurnIntentSet(set))).toEqual(intents)
        for (const each of intents.slice(0, 1)) {
          expect(await onChain(encodeBurnIntent(each))).toBe(burnIntentHash(each))
          expect(decodeBurnIntents(encodeBurnIntent(each))).toEqual([each])
        }
      }),
      runs,
    )
  })

  it('on which bytes are intents, and why others are none', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(
        damaged(fc.array(intent, { minLength: 1, maxLength: 3 }), encodings.intents),
        async (bytes) => {
          const ours = faultOf(() => decodeBurnIntents(bytes))
          const theirs = await refusalIfAny(chain, alice, wallet, 'getTypedDataHash', [hexOf(bytes)])
          seen.add(String(ours))
          expect(errorsFor(ours)).toContain(theirs?.replace(/\(.*/, ''))
        },
      ),
      { numRuns: runs.numRuns * 4 },
    )
    expect(seen.size).toBeGreaterThan(3)
  })

  it('on which bytes are attestations, and why others are none', async () => {
    await fc.assert(
      fc.asyncProperty(
        damaged(fc.array(attestation, { minLength: 1, maxLength: 3 }), encodings.attestations),
        async (bytes) => {
          const ours = faultOf(() => decodeAttestations(bytes))
          const args = await signedArgs(hexOf(bytes))
          const theirs = (await refusal(chain, alice, minter, 'gatewayMint', args)).replace(/\(.*/, '')
          if (ours === undefined) expect(theirs).toMatch(afterDecoding)
          else expect(errorsFor(ours)).toContain(theirs)
        },
      ),
      { numRuns: runs.numRuns * 2 },
    )
  })

  it('on the hash of a specification, which is in the events', async () => {
    await send(chain, alice, wallet, 'deposit', [token, 1_000_000n])
    await fc.assert(
      fc.asyncProperty(spec, async (drawn) => {
        const { hookData, salt, destinationDomain, destinationCaller } = drawn
        const burning = specOf({ hookData, salt, destinationDomain, destinationCaller, value: 1n })
        const one = { maxBlockHeight: drawn.value, maxFee: 0n, spec: burning }
        const maxBlockHeight = 2n ** 256n - 1n
        const burn = await burnOf(alice, { ...one, maxBlockHeight }, [0n])
        const [burned] = await send(chain, stranger, wallet, 'gatewayBurn', await burnArgs([burn]))
        expect(burned!.args['transferSpecHash']).toBe(transferSpecHash(burning))
        const minting = specOf({ hookData, salt, sourceDomain: elsewhere, value: 1n })
        const minted = await mintArgs({ maxBlockHeight, spec: minting })
        const [used] = await send(chain, stranger, minter, 'gatewayMint', minted)
        expect(used!.args['transferSpecHash']).toBe(transferSpecHash(minting))
      }),
      { numRuns: runs.numRuns / 4 },
    )
  })
})

/** The refusals of gatewayMint of drawn attestations that it could decode. */
const afterDecoding =
  /^(Attestation|InvalidAttestation|MustHaveAtLeastOneAttestation|UnsupportedTokenAtIndex)/

const encodings = {
  intents: (intents: readonly BurnIntent[]) =>
    intents.length === 1 ? encodeBurnIntent(intents[0]!) : encodeBurnIntentSet({ intents }),
  attestations: (list: readonly { maxBlockHeight: bigint; spec: TransferSpec }[]) =>
    list.length === 1 ? encodeAttestation(list[0]!) : encodeAttestationSet({ attestations: list }),
}

/** Encoded elements that are cut, extended, or changed in a byte: mostly in one of magics, version and lengths. */
function damaged<Element>(
  elements: fc.Arbitrary<Element[]>,
  encode: (elements: readonly Element[]) => Buffer,
): fc.Arbitrary<Buffer> {
  const places = fc.oneof(
    fc.constantFrom(0, 3, 7, 39, 43, 47, 71, 75, 79, 83, 379, 411, 415, 419),
    fc.integer({ min: 0, max: 1_400 }),
  )
  const damage = fc.record({
    kind: fc.constantFrom('cut', 'extend', 'change', 'change', 'change', 'none'),
    place: places,
    by: fc.integer({ min: 1, max: 255 }),
  })
  return fc.tuple(elements, damage).map(([drawn, { kind, place, by }]) => {
    const bytes = encode(drawn)
    const at = place % bytes.length
    if (kind === 'cut') return bytes.subarray(0, at)
    if (kind === 'extend') return Buffer.concat([bytes, Buffer.alloc(by)])
    if (kind === 'change') bytes[at]! ^= by
    return bytes
  })
}

function faultOf(decode: () => unknown): MalformedTransfer['fault'] | undefined {
  try {
    decode()
    return undefined
  } catch (error) {
    if (error instanceof MalformedTransfer) return error.fault
    throw error
  }
}

/** The custom errors of the contracts that a fault of the codec can be. The contracts check lengths of all elements first. */
function errorsFor(fault: MalformedTransfer['fault'] | undefined): (string | undefined)[] {
  const lengths = [
    'TransferPayloadDataTooShort',
    'TransferPayloadHeaderTooShort',
    'TransferPayloadOverallLengthMismatch',
    'TransferPayloadSetHeaderTooShort',
    'TransferPayloadSetElementHeaderTooShort',
    'TransferPayloadSetElementTooShort',
    'TransferPayloadSetOverallLengthMismatch',
    'TransferPayloadSetInvalidElementMagic',
    'TransferSpecHeaderTooShort',
    'TransferSpecOverallLengthMismatch',
  ]
  if (fault === undefined) return [undefined]
  if (fault === 'wrong-version') return ['InvalidTransferSpecVersion']
  if (fault === 'wrong-magic')
    return [
      'InvalidTransferPayloadMagic',
      'TransferPayloadSetInvalidElementMagic',
      'InvalidTransferSpecMagic',
      ...lengths,
    ]
  return [...lengths, 'InvalidTransferSpecMagic']
}

it('bytes and typed data are those of the library for EIP-712 and ABI', async () => {
  const { hashStruct } = await import('viem')
  const fields = [
    'uint32 version',
    'uint32 sourceDomain',
    'uint32 destinationDomain',
    'bytes32 sourceContract',
    'bytes32 destinationContract',
    'bytes32 sourceToken',
    'bytes32 destinationToken',
    'bytes32 sourceDepositor',
    'bytes32 destinationRecipient',
    'bytes32 sourceSigner',
    'bytes32 destinationCaller',
    'uint256 value',
    'bytes32 salt',
    'bytes hookData',
  ]
  const typed = (text: string) => {
    const [type, name] = text.split(' ')
    return { type: type!, name: name! }
  }
  const types = {
    TransferSpec: fields.map(typed),
    BurnIntent: ['uint256 maxBlockHeight', 'uint256 maxFee', 'TransferSpec spec'].map(typed),
  }
  const one = {
    maxBlockHeight: 5n,
    maxFee: 6n,
    spec: specOf({ hookData: '0x010203', sourceToken: word(token) }),
  }
  expect(burnIntentHash(one)).toBe(hashStruct({ data: one as never, types, primaryType: 'BurnIntent' }))
  const { intents, signature } = await burnOf(alice, one, [4n])
  const [payload] = await burnArgs([{ intents, signature, feesAtomic: [4n] }])
  const parameters = [{ type: 'bytes[]' }, { type: 'bytes[]' }, { type: 'uint256[][]' }] as const
  expect(payload).toBe(encodeAbiParameters(parameters, [[hexOf(intents)], [signature], [[4n]]]))
  expect(bytesOf(payload).length % 32).toBe(0)
  expect(domain).toBe(6)
})
