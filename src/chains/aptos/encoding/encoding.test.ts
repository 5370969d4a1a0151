import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { bytesOf, type Hex } from '#lib/hex'
import {
  AccountAddress,
  AccountAuthenticatorEd25519,
  ChainId,
  Deserializer,
  Ed25519PrivateKey,
  Ed25519PublicKey,
  Ed25519Signature,
  EntryFunction,
  FeePayerRawTransaction,
  generateSigningMessageForTransaction,
  generateUserTransactionHash,
  MoveVector,
  parseTypeTag,
  RawTransaction,
  SignedTransaction,
  SimpleTransaction,
  TransactionAuthenticatorEd25519,
  TransactionPayloadEntryFunction,
  U64,
} from '#testing/nodes/aptos-sdk'
import { parseAptosAddress } from '../../addresses/aptos.ts'
import type { Call, UnsignedTransaction } from '../../facets/payments.ts'
import type { Network } from '../../networks/index.ts'
import { dearer, paymentCall } from '../payments/build.ts'
import { readSignedPayment, signingMessageOf, withSignatures } from '../payments/signatures.ts'
import { addressOfKey, primaryStore } from './addresses.ts'
import { batchTransfer, encodeFunction, paymentOf } from './functions.ts'
import { entryFunctionLayout, readExactly } from './layout.ts'

const network = { chainId: 2 } as Network
const usdc = '0x69091fbab5f7d635ee7ac5098cf0c1efbe31d68fec0f2cd565e8d168daf52832'
const key1 = '0xf867372dfec13fb6c0740d4b574363685e10e6f243e9554ffa8f6e698e940efa'

const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key with the signature that custody gives: public key and signature. */
function keyOf(secret: Uint8Array) {
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, secret]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(12)
  const signed = (message: Buffer) => Buffer.concat([publicKey, sign(null, message, key)])
  return { address: addressOfKey(publicKey), publicKey, signed, secret }
}

/** The key of the mnemonic of the vectors, at index 0. */
const vectorKey = keyOf(
  Ed25519PrivateKey.fromDerivationPath("m/44'/637'/0'/0'/0'", `${'abandon '.repeat(11)}about`).toUint8Array(),
)

const terms = { nonce: 7, gasLimit: 2_000n, maxFeeAtomic: 100n, priorityFeeAtomic: 100n }
const unsigned = (call: Call): UnsignedTransaction => ({
  from: vectorKey.address,
  ...call,
  ...terms,
  expiresMs: 1_800_000_000_000,
})

it('writes the address of a key, and the stores of an account, as the chain does', () => {
  expect(vectorKey.address).toBe('0xeb663b681209e7087d681c5d3eed12aaa8e1915e7c87794542c3f96e94b3d3bf')
  expect(primaryStore(vectorKey.address, '0xa')).toBe(
    '0x7c7850b59fc9fdd9c5069d21afe02a50e080bf713e1775106812ce4f3bbec33f',
  )
  expect(primaryStore(vectorKey.address, usdc)).toBe(
    '0x03b75ae1ab8a2e496af719450fdc6b93dc98aa9c816e6473767479606489b74b',
  )
})

it.each<[string, Call, number, string]>([
  [
    'coins',
    paymentCall(key1, 1_000_000n),
    264,
    '0xe2a40a0fc5631f9642311aa89f7c20a133aaac1087899b82cdf5f81b8a02b983',
  ],
  [
    'a fungible asset',
    paymentCall(key1, 2_500_000n, usdc),
    364,
    '0x1c77a8255a9a654e06eb9575e1d050112252bfbfb5bbf23852aa12a789a32c0c',
  ],
])('signs a transfer of %s to the known bytes and hash', (_, call, length, expected) => {
  const transaction = unsigned(call)
  const { raw, hash } = withSignatures(network, transaction, {
    sender: vectorKey.signed(signingMessageOf(network, transaction)),
  })
  expect(bytesOf(raw)).toHaveLength(length)
  expect(hash).toBe(expected)
  expect(readSignedPayment(network, raw)).toEqual(transaction)
})

it.each([
  ['0x1', '0x1'],
  ['0xA', '0xa'],
  [`0x${'0'.repeat(63)}a`, '0xa'],
  [
    '0x03b75ae1ab8a2e496af719450fdc6b93dc98aa9c816e6473767479606489b74B',
    primaryStore(vectorKey.address, usdc),
  ],
  ['0x3b75ae1ab8a2e496af719450fdc6b93dc98aa9c816e6473767479606489b74b', undefined],
  ['0x10', undefined],
  ['0x', undefined],
  ['a'.repeat(64), undefined],
  [`0x${'0'.repeat(65)}`, undefined],
])('the address %s has the canonical form %s', (text, canonical) => {
  expect(parseAptosAddress(text)).toBe(canonical)
  if (canonical) expect(AccountAddress.fromStrict(text.toLowerCase()).toString()).toBe(canonical)
})

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const address = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => new AccountAddress(bytes).toString())
const payment = fc.array(fc.record({ to: address, amountAtomic: u64 }), { minLength: 1, maxLength: 5 })

const entry = (name: `${string}::${string}::${string}`, types: string[], args: never[]) => {
  const [module, called] = [name.slice(0, name.lastIndexOf('::')), name.slice(name.lastIndexOf('::') + 2)]
  return EntryFunction.build(
    module as `${string}::${string}`,
    called,
    types.map((each) => parseTypeTag(each)),
    args,
  )
}
const at = (text: string) => AccountAddress.from(text)

/** The same functions as the SDK encodes them. */
const theirs = {
  coins: ({ to, amountAtomic }: { to: string; amountAtomic: bigint }) =>
    entry('0x1::aptos_account::transfer', [], [at(to), new U64(amountAtomic)] as never[]),
  asset: (asset: string, { to, amountAtomic }: { to: string; amountAtomic: bigint }) =>
    entry('0x1::primary_fungible_store::transfer', ['0x1::fungible_asset::Metadata'], [
      at(asset),
      at(to),
      new U64(amountAtomic),
    ] as never[]),
  batch: (asset: string, recipients: readonly { to: string; amountAtomic: bigint }[]) =>
    entry('0x1::aptos_account::batch_transfer_fungible_assets', [], [
      at(asset),
      new MoveVector(recipients.map(({ to }) => at(to))),
      new MoveVector(recipients.map(({ amountAtomic }) => new U64(amountAtomic))),
    ] as never[]),
}

it('property 214: any transaction has the bytes, the message and the hash that the SDK gives it', () => {
  const kinds = fc.constantFrom('coins' as const, 'asset' as const, 'batch' as const)
  fc.assert(
    fc.property(
      fc.record({ secret, payer: secret, kinds, asset: address, payment, gasLimit: u64, price: u64 }),
      fc.maxSafeNat(),
      fc.integer({ min: 0, max: 2 ** 40 }),
      fc.integer({ min: 1, max: 255 }),
      ({ secret, payer, kinds, asset, payment, gasLimit, price }, nonce, expirySeconds, chainId) => {
        const [key, payerKey, on] = [keyOf(secret), keyOf(payer), { chainId } as Network]
        const [first] = payment
        const [call, function_] =
          kinds === 'coins'
            ? [paymentCall(first!.to, first!.amountAtomic), theirs.coins(first!)]
            : kinds === 'asset'
              ? [paymentCall(first!.to, first!.amountAtomic, asset), theirs.asset(asset, first!)]
              : [batchCall(asset, payment), theirs.batch(asset, payment)]
        const transaction = {
          from: key.address,
          ...call,
          nonce,
          gasLimit,
          maxFeeAtomic: price,
          priorityFeeAtomic: price,
          expiresMs: expirySeconds * 1_000,
        }
        const raw = new RawTransaction(
          at(key.address),
          BigInt(nonce),
          new TransactionPayloadEntryFunction(function_),
          gasLimit,
          price,
          BigInt(expirySeconds),
          new ChainId(chainId),
        )
        const simple = new SimpleTransaction(raw)
        const message = signingMessageOf(on, transaction)
        expect(Buffer.from(generateSigningMessageForTransaction(simple))).toEqual(message)
        const own = withSignatures(on, transaction, { sender: key.signed(message) })
        const read = SignedTransaction.deserialize(new Deserializer(bytesOf(own.raw)))
        expect(Buffer.from(read.bcsToBytes())).toEqual(bytesOf(own.raw))
        const { publicKey, signature } = partsOf(key.signed(message))
        expect(
          Buffer.from(
            new SignedTransaction(
              raw,
              new TransactionAuthenticatorEd25519(publicKey, signature),
            ).bcsToBytes(),
          ),
        ).toEqual(bytesOf(own.raw))
        const senderAuthenticator = new AccountAuthenticatorEd25519(publicKey, signature)
        expect(own.hash).toBe(generateUserTransactionHash({ transaction: simple, senderAuthenticator }))
        expect(readSignedPayment(on, own.raw)).toEqual(transaction)
        expect(readSignedPayment({ chainId: (chainId % 255) + 1 } as Network, own.raw)).toBeUndefined()
        expectShared(on, transaction, { key, payerKey, raw })
      },
    ),
    { numRuns: 60 },
  )
})

const batchCall = (asset: string, recipients: { to: string; amountAtomic: bigint }[]): Call => ({
  to: '0x1',
  valueAtomic: 0n,
  data: `0x${encodeFunction(batchTransfer({ asset, recipients })).toString('hex')}`,
})

const partsOf = (signature: Buffer) => ({
  publicKey: new Ed25519PublicKey(signature.subarray(0, 32)),
  signature: new Ed25519Signature(signature.subarray(32)),
})

const authenticatorOf = (signature: Buffer) => {
  const parts = partsOf(signature)
  return new AccountAuthenticatorEd25519(parts.publicKey, parts.signature)
}

/** The same transaction with an account that pays its fee. */
function expectShared(
  on: Network,
  unpaid: UnsignedTransaction,
  { key, payerKey, raw }: { key: Key; payerKey: Key; raw: RawTransaction },
): void {
  const payer = payerKey.address
  const transaction = { ...unpaid, feePayer: payer }
  const shared = new SimpleTransaction(raw, at(payer))
  const message = signingMessageOf(on, transaction)
  expect(Buffer.from(generateSigningMessageForTransaction(shared))).toEqual(message)
  expect(new FeePayerRawTransaction(raw, [], at(payer)).bcsToBytes()).toEqual(
    new Uint8Array(message.subarray(32)),
  )
  const signatures = { sender: key.signed(message), feePayer: payerKey.signed(message) }
  const { hash, raw: bytes } = withSignatures(on, transaction, signatures)
  expect(hash).toBe(
    generateUserTransactionHash({
      transaction: shared,
      senderAuthenticator: authenticatorOf(signatures.sender),
      feePayerAuthenticator: authenticatorOf(signatures.feePayer),
    }),
  )
  expect(readSignedPayment(on, bytes)).toEqual(transaction)
  expect(() => withSignatures(on, transaction, { sender: signatures.sender })).toThrow('is missing')
  const ofSenderAlone = key.signed(signingMessageOf(on, unpaid))
  expect(() => withSignatures(on, transaction, { ...signatures, sender: ofSenderAlone })).toThrow(
    'of another',
  )
  const swapped = { sender: signatures.feePayer, feePayer: signatures.sender }
  if (payer !== transaction.from)
    expect(() => withSignatures(on, transaction, swapped)).toThrow('is not one of')
}

type Key = ReturnType<typeof keyOf>

it.each(['the sender', 'another account'])(
  'reads nothing that is signed by another key, changed, cut, or has bytes behind it: %s pays',
  (pays) => {
    const payer = pays === 'the sender' ? undefined : keyOf(Buffer.alloc(32, 8))
    const transaction = { ...unsigned(paymentCall(key1, 5n)), ...(payer && { feePayer: payer.address }) }
    const message = signingMessageOf(network, transaction)
    const feePayer = payer?.signed(message)
    const { raw } = withSignatures(network, transaction, { sender: vectorKey.signed(message), feePayer })
    const bytes = bytesOf(raw)
    for (let index = 0; index < bytes.length; index++) {
      const changed = Buffer.from(bytes)
      changed[index]! ^= 1
      expect(readSignedPayment(network, `0x${changed.toString('hex')}`)).toBeUndefined()
    }
    for (const text of [`${raw}00`, raw.slice(0, -2), '0x', '0x00ff']) {
      expect(readSignedPayment(network, text as Hex)).toBeUndefined()
    }
    const other = keyOf(Buffer.alloc(32, 9))
    expect(() => withSignatures(network, transaction, { sender: other.signed(message) })).toThrow(
      'is not one of',
    )
    const stale = vectorKey.signed(signingMessageOf(network, { ...transaction, nonce: 8 }))
    expect(() => withSignatures(network, transaction, { sender: stale })).toThrow('of another transaction')
    expect(() => signingMessageOf(network, { ...transaction, expiresMs: undefined! })).toThrow(
      'has an expiry',
    )
  },
)

it('changes the price alone of what it sends again at a higher one', () => {
  const transaction = unsigned(paymentCall(key1, 5n, usdc))
  const raised = dearer(transaction, { maxFeeAtomic: 150n })
  expect(raised).toEqual({ ...transaction, maxFeeAtomic: 150n, priorityFeeAtomic: 150n })
})

it('takes no amount that the chain cannot hold, and reads no call of a function it does not know', () => {
  expect(() => paymentCall(key1, 2n ** 64n)).toThrow('amount must be at most 18446744073709551615')
  expect(() => paymentCall(key1, -1n, usdc)).toThrow('amount must be')
  const unequal = batchTransfer({ asset: usdc, recipients: [{ to: key1, amountAtomic: 1n }] })
  const [asset, recipients] = unequal.arguments
  const none = Buffer.of(0)
  expect(paymentOf({ ...unequal, arguments: [asset!, recipients!, none] })).toBeUndefined()
  expect(paymentOf({ ...unequal, arguments: [...unequal.arguments, none] })).toBeUndefined()
  expect(paymentOf({ ...unequal, typeArguments: [{ bool: true, $kind: 'bool' }] as never })).toBeUndefined()
  expect(paymentOf({ ...unequal, name: 'transfer_everything' })).toBeUndefined()
  expect(readExactly(entryFunctionLayout, Buffer.concat([encodeFunction(unequal), none]))).toBeUndefined()
})
