import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aptosSigning } from '#chains/aptos/signing'
import { TransactionProblem, type WalletSigning } from '#chains/facets/signing'
import { ValueProblem } from '#chains/invalid-value'
import { nearSigning } from '#chains/near/signing'
import { solanaSigning } from '#chains/solana/signing'
import { familyOfKey } from '#custody/families/index'
import { deriveKeys } from '#custody/signing/seed'
import { nearActions, nearDelegateAction, nearTransaction } from '#testing/builders/near-transactions'
import {
  solanaData,
  solanaMessage,
  solanaPrograms,
  unsignedTransaction,
} from '#testing/builders/solana-transactions'
import { pureSigner } from '#testing/nodes/pure-signer'
import { sizeOf } from '#testing/runner/size'

/** The keys of "abandon" eleven times and "about". */
const keyOf = async (family: 'near' | 'solana', index: number) =>
  (await deriveKeys(pureSigner, family, Buffer.alloc(16), [index]))[0]!

const near = await keyOf('near', 0)
const [payer, recipient] = await Promise.all([keyOf('solana', 0), keyOf('solana', 1)])
const onNear = { blockchain: 'NEAR-TESTNET', address: near.address } as const
const onSolana = { blockchain: 'SOL-DEVNET', address: payer.address } as const

const signed = <Answer>(
  family: 'near' | 'solana',
  { payload, answerOf }: { payload: Buffer; answerOf(signature: Buffer): Answer },
): Answer => {
  const { privateKey } = family === 'near' ? near : payer
  return answerOf(familyOfKey({ family }).sign(pureSigner, payload, privateKey))
}

const faultOf = (read: () => unknown): unknown => {
  try {
    read()
  } catch (error) {
    if (error instanceof TransactionProblem) return error.fault
    if (error instanceof ValueProblem) return error.location
    throw error
  }
  return undefined
}

const nearTo = (
  actions: readonly Uint8Array[],
  changes: Partial<Parameters<typeof nearTransaction>[0]> = {},
) =>
  nearTransaction({
    signer: near.address,
    publicKey: near.publicKey!,
    receiver: 'bob.testnet',
    actions,
    ...changes,
  })
const readNear = (bytes: Buffer) =>
  nearSigning.transaction!({ rawTransaction: bytes.toString('base64') }, onNear)

describe('a transaction of NEAR', () => {
  const oneNear = [nearActions.transfer(10n ** 24n)]

  it('has the signature and the hash of the official libraries', () => {
    const bytes = nearTo(oneNear, { nonce: 123_456_789_000_001n })
    const signable = readNear(bytes)
    const answer = signed('near', signable)
    expect(answer).toMatchObject({
      signature: '5VYYfnRi6bhXxQXJMc7Pgf1gAJ72eH8Nk53E9kyK6erXPfDZQMCwNKZNTaLCHCuZRWCg1ffzRrZn8SJkpL1djV13',
      txHash: '3BFwsgqrUif5h2L8AGAigUMKfia1NjjVqJnL4fpCL2Bu',
    })
    const whole = Buffer.from(answer.signedTransaction, 'base64')
    expect(whole.subarray(0, bytes.length)).toEqual(bytes)
    expect([whole[bytes.length], whole.length]).toEqual([0, bytes.length + 65])
    expect(signable.effects.effects).toEqual([
      {
        kind: 'transfer',
        blockchain: 'NEAR-TESTNET',
        token: 'native',
        destination: 'bob.testnet',
        amountAtomic: 10n ** 24n,
      },
    ])
  })

  const transferOf = { receiver_id: 'carol.testnet', amount: '2500000' }
  it.each([
    [
      'a token transfer',
      [nearActions.functionCall('ft_transfer', transferOf, 1n)],
      'bob.testnet 2500000 to carol.testnet',
      '',
    ],
    [
      'one with a member more',
      [nearActions.functionCall('ft_transfer', { ...transferOf, x: 1 }, 1n)],
      'ft_transfer, native 1 to undefined',
      '',
    ],
    [
      'one with a name twice',
      [
        nearActions.functionCall(
          'ft_transfer',
          '{"amount":"1","receiver_id":"carol.testnet","amount":"2"}',
          1n,
        ),
      ],
      'ft_transfer, native 1 to undefined',
      '',
    ],
    ['another function', [nearActions.functionCall('swap', {}, 10n)], 'swap, native 10 to undefined', ''],
    [
      'an account that ends',
      [nearActions.deleteAccount('eve.testnet')],
      `native ${2n ** 128n - 1n} to eve.testnet`,
      '',
    ],
    ['a further key', [nearActions.addFullAccessKey(near.publicKey!)], 'AddKey', 'upgrade'],
    [
      'code',
      [nearActions.createAccount(), nearActions.deployContract(Buffer.alloc(3))],
      'CreateAccount, DeployContract',
      'upgrade',
    ],
  ])('with %s shows policy its effects', (_, actions, shown, dangers) => {
    const { effects } = readNear(nearTo(actions))
    const texts = effects.effects.map((effect) => {
      if (effect.kind === 'call') return effect.selector
      return effect.kind === 'transfer' && `${effect.token} ${effect.amountAtomic} to ${effect.destination}`
    })
    expect(texts.join(', ')).toBe(shown)
    expect(effects.dangers.join()).toBe(dangers)
  })

  const other = '3eQoJ3ex6uWX3R8F1THF6Y6oBQwPYpF1X9HBM1gjqw7w'
  it.each([
    ['a byte more', Buffer.concat([nearTo(oneNear), Buffer.of(0)]), 'unreadable'],
    ['a byte less', nearTo(oneNear).subarray(0, -1), 'unreadable'],
    ['an action of an unknown kind', nearTo([Buffer.of(11)]), 'unreadable'],
    ['more actions than bytes', nearTo(Array(101).fill(nearActions.createAccount())), 'unreadable'],
    ['no account as receiver', nearTo(oneNear, { receiver: 'Bob' }), 'unreadable'],
    ['the key of another wallet', nearTo(oneNear, { publicKey: other }), 'ofOtherSigner'],
    ['another implicit account', nearTo(oneNear, { signer: 'ab'.repeat(32) }), 'ofOtherSigner'],
    ['a named account, which may have the key', nearTo(oneNear, { signer: 'alice.testnet' }), undefined],
    ['nothing', Buffer.alloc(0), 'unreadable'],
  ])('with %s is judged as %s', (_, bytes, fault) => {
    expect(faultOf(() => readNear(bytes))).toBe(fault)
  })

  it('is read from raw base64 alone', () => {
    const read = (written: object) => faultOf(() => nearSigning.transaction!(written, onNear))
    expect(read({ transaction: '{}' })).toBe('invalid')
    expect(read({ rawTransaction: `${nearTo(oneNear).toString('base64')}\n` })).toBe('unreadable')
    expect(read({ rawTransaction: 'A'.repeat(2_300_000) })).toBe('tooLarge')
  })
})

describe('a delegate action', () => {
  const bytes = nearDelegateAction({
    signer: near.address,
    publicKey: near.publicKey!,
    receiver: 'bob.testnet',
    actions: [nearActions.transfer(1n)],
  })
  const prefix = Buffer.from('6e010040', 'hex')
  const read = (given: Buffer) => nearSigning.delegateAction!(given.toString('base64'), onNear)

  it.each([
    ['without', bytes],
    ['with', Buffer.concat([prefix, bytes])],
  ])('%s its prefix has the signature of the official libraries', (_, given) => {
    const answer = signed('near', read(given))
    expect(answer.signature).toBe(
      '4yUdQ3gsFSLu3RYacQXCx7ycGx7ihGbfKfHfs9xS4zn4Gkfs3dhZKVguXkpP1KBANgUvkyDz2fbfFtJwE7iZNrdQ',
    )
    const whole = Buffer.from(answer.signedDelegateAction, 'base64')
    expect(whole.subarray(0, bytes.length)).toEqual(bytes)
  })

  it('contains no delegate action, and is no transaction', () => {
    const nested = nearDelegateAction({
      signer: near.address,
      publicKey: near.publicKey!,
      receiver: 'bob.testnet',
      actions: [Buffer.concat([Buffer.of(8), bytes, Buffer.alloc(65)])],
    })
    expect(faultOf(() => read(nested))).toBe('unreadable')
    expect(faultOf(() => read(nearTo([])))).toBe('unreadable')
    expect(faultOf(() => readNear(nearTo([Buffer.concat([Buffer.of(8), bytes, Buffer.alloc(65)])])))).toBe(
      undefined,
    )
  })
})

const readSolana = (bytes: Buffer): ReturnType<NonNullable<WalletSigning['transaction']>> =>
  solanaSigning.transaction!({ rawTransaction: bytes.toString('base64') }, onSolana)

describe('a transaction of Solana', () => {
  const { system, token, associatedToken, computeBudget } = solanaPrograms
  const pays = [{ program: 2, accounts: [0, 1], data: solanaData.transfer(1_000_000n) }]
  const keys = [payer.address, recipient.address, system]
  const plain = solanaMessage({ keys, instructions: pays, lookup: 0 })

  it('has the signature of the official libraries', () => {
    expect(plain).toHaveLength(152)
    const signable = readSolana(unsignedTransaction(plain))
    const answer = signed('solana', signable)
    expect(answer.signature).toBe(
      '31UWDj9KBrRQSzE1WKT87CymBVSNW5Lf7fzusUCDRFnBTANcdMp7r7a1qtrzDs8LX7GbttoaZnFHbp48dCEdAZJh',
    )
    expect(Buffer.from(answer.signedTransaction, 'base64').subarray(65)).toEqual(plain)
    expect(signable.effects).toMatchObject({
      effects: [
        { kind: 'transfer', token: 'native', destination: recipient.address, amountAtomic: 1_000_000n },
      ],
      dangers: [],
    })
  })

  const mint = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU'
  const [from, to] = [
    'Bjr2Shw9sy31UNdm8kYs5y72iTbnxB4JemK98vJqyQWm',
    '5N3f1tj9v1vc5TUZ8S7mCAnVmjVKrfnzXWhxLaxyZAgt',
  ]
  const accounts = [
    payer.address,
    from,
    to,
    recipient.address,
    mint,
    system,
    token,
    associatedToken,
    computeBudget,
  ]
  const paysToken = { program: 6, accounts: [1, 4, 2, 0], data: solanaData.transferChecked(2_500_000n) }
  const creates = { program: 7, accounts: [0, 2, 3, 4, 5, 6], data: solanaData.createIdempotent() }
  const prices = { program: 8, accounts: [], data: solanaData.unitPrice(10n) }

  it.each([
    ['a token, to an account', [paysToken], `${mint} 2500000 to ${to}`, ''],
    [
      'a token, to the owner of an account that it creates',
      [prices, creates, paysToken],
      `${mint} 2500000 to ${recipient.address}`,
      '',
    ],
    [
      'a token without its mint',
      [{ ...paysToken, accounts: [1, 2, 0], data: Buffer.concat([Buffer.of(3), Buffer.alloc(8)]) }],
      `call 0x0300000000000000 of ${token}`,
      '',
    ],
    [
      'an approval',
      [{ program: 6, accounts: [1, 3, 0], data: solanaData.approve(5n) }],
      `call 0x0405000000000000 of ${token}`,
      'approve',
    ],
    ['coins of another signer', [{ program: 5, accounts: [3, 2], data: solanaData.transfer(7n) }], '', ''],
    [
      'an unknown program',
      [{ program: 8, accounts: [0], data: Buffer.from([9, 9]) }],
      `call 0x0909 of ${computeBudget}`,
      '',
    ],
  ])('of %s shows policy its effects', (_, instructions, shown, dangers) => {
    const message = solanaMessage({ keys: accounts, readonlyOthers: 5, instructions })
    const { effects } = readSolana(unsignedTransaction(message))
    const texts = effects.effects.map((effect) => {
      if (effect.kind === 'call') return `call ${effect.selector} of ${effect.contract}`
      return effect.kind === 'transfer' && `${effect.token} ${effect.amountAtomic} to ${effect.destination}`
    })
    expect(texts.join(', ')).toBe(shown)
    expect(effects.dangers.join()).toBe(dangers)
  })

  it('that pays an account of a lookup table is not understood', () => {
    const instructions = [{ program: 2, accounts: [0, 3], data: solanaData.transfer(1n) }]
    const message = solanaMessage({ keys, instructions, lookup: 1 })
    expect(readSolana(unsignedTransaction(message)).effects.dangers).toEqual(['undecodable'])
  })

  const legacy = solanaMessage({ keys, instructions: pays })
  const filled = unsignedTransaction(legacy)
  filled.fill(1, 1, 65)
  it.each([
    ['of the older form', unsignedTransaction(legacy), undefined],
    ['with a byte more', Buffer.concat([unsignedTransaction(legacy), Buffer.of(0)]), 'unreadable'],
    ['with a byte less', unsignedTransaction(legacy).subarray(0, -1), 'unreadable'],
    ['with two signatures', unsignedTransaction(legacy, 2), 'unreadable'],
    ['of version 1', unsignedTransaction(Buffer.concat([Buffer.of(0x81), legacy])), 'unreadable'],
    [
      'whose program is its payer',
      unsignedTransaction(solanaMessage({ keys, instructions: [{ ...pays[0]!, program: 0 }] })),
      'unreadable',
    ],
    [
      'with an account that it does not name',
      unsignedTransaction(solanaMessage({ keys, instructions: [{ ...pays[0]!, accounts: [0, 3] }] })),
      'unreadable',
    ],
    [
      'with an account twice',
      unsignedTransaction(
        solanaMessage({ keys: [payer.address, payer.address, system], instructions: pays }),
      ),
      'unreadable',
    ],
    [
      'that others sign',
      unsignedTransaction(
        solanaMessage({ keys: [recipient.address, payer.address, system], instructions: pays }),
      ),
      'ofOtherSigner',
    ],
    ['that is signed', filled, 'signedBefore'],
    ['larger than a packet', Buffer.concat([unsignedTransaction(legacy), Buffer.alloc(1_232)]), 'tooLarge'],
  ])('%s is judged as %s', (_, bytes, fault) => {
    expect(faultOf(() => readSolana(bytes))).toBe(fault)
  })

  it('is not signed as a message', () => {
    expect(faultOf(() => solanaSigning.message!(plain, onSolana))).toBe('message')
    expect(faultOf(() => solanaSigning.message!(Buffer.from('hello'), onSolana))).toBe(undefined)
  })
})

describe('a message of Aptos', () => {
  const read = (bytes: Buffer) =>
    aptosSigning.message!(bytes, { blockchain: 'APTOS-TESTNET', address: `0x${'1'.repeat(64)}` })

  it('is its bytes, unless they are a transaction or a proof for another key', () => {
    expect(read(Buffer.from('hello')).payload.toString()).toBe('hello')
    const transaction = Buffer.from('b5e97db07fa0bd0e5598aa3643a9bc6f6693bddc1a9fec9e674a461eaa00b193', 'hex')
    expect(faultOf(() => read(Buffer.concat([transaction, Buffer.alloc(9)])))).toBe('message')
    const proof = Buffer.concat([Buffer.alloc(31), Buffer.of(1, 7), Buffer.from('account')])
    expect(faultOf(() => read(proof))).toBe('message')
    expect(read(Buffer.alloc(32)).effects.dangers).toEqual(['rawHash'])
  })
})

it('property 205: encodings with any bytes changed, cut or added are read or refused, and their key never signs for another', () => {
  const transfer = nearTo([
    nearActions.functionCall('ft_transfer', { receiver_id: 'a.near', amount: '1' }, 1n),
  ])
  const action = nearDelegateAction({
    signer: near.address,
    publicKey: near.publicKey!,
    receiver: 'bob.testnet',
    actions: [nearActions.transfer(1n)],
  })
  const message = solanaMessage({
    keys: [payer.address, recipient.address, solanaPrograms.system],
    instructions: [{ program: 2, accounts: [0, 3], data: solanaData.transfer(1n) }],
    lookup: 2,
  })
  const seeds: [Buffer, (text: string) => { payload: Buffer }, Buffer][] = [
    [
      transfer,
      (rawTransaction) => nearSigning.transaction!({ rawTransaction }, onNear),
      Buffer.from(near.address, 'hex'),
    ],
    [action, (text) => nearSigning.delegateAction!(text, onNear), Buffer.from(near.address, 'hex')],
    [
      unsignedTransaction(message),
      (rawTransaction) => solanaSigning.transaction!({ rawTransaction }, onSolana),
      base58.decode(payer.address) as Buffer,
    ],
  ]
  for (const [seed, read, publicKey] of seeds) {
    const changed = fc.tuple(
      fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { maxLength: 3 }),
      fc.nat(seed.length),
      fc.uint8Array({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(changed, ([bytes, cut, more]) => {
        const given = Buffer.concat([cut < 4 ? seed.subarray(0, seed.length - cut) : seed, more])
        for (const [at, byte] of bytes) if (at < given.length) given[at] = byte
        const fault = faultOf(() => read(given.toString('base64')))
        if (fault === undefined) expect(given.includes(publicKey)).toBe(true)
      }),
      { numRuns: sizeOf('DECODER_RUNS', { usual: 200, deep: 20_000 }) },
    )
  }
})
