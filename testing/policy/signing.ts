import { decodePersonalMessage, decodeTransaction, decodeTypedData } from '#chains/evm/effects/decode-signing'
import type { DecodableTypedData } from '#chains/evm/effects/typed-data-shapes'
import type { Hex } from '#lib/hex'
import { type Case, chainId, friend, own, permit2, stranger, usdc, vault } from './rules.ts'

type Needs = Case['needs']
type Field = { name: string; type: string }

const fields = (text: string): Field[] =>
  text.split(',').map((field) => {
    const [type = '', name = ''] = field.trim().split(' ')
    return { type, name }
  })

const data = (
  primaryType: string,
  types: Record<string, string>,
  message: Record<string, unknown>,
  domain: Record<string, unknown> = { chainId, verifyingContract: usdc },
): DecodableTypedData => ({
  domain,
  primaryType,
  message,
  types: Object.fromEntries(Object.entries(types).map(([name, text]) => [name, fields(text)])),
})

const permitType = {
  Permit: 'address owner, address spender, uint256 value, uint256 nonce, uint256 deadline',
}
const permit = (changes: Record<string, unknown> = {}, domain?: Record<string, unknown>) =>
  data(
    'Permit',
    permitType,
    { owner: own, spender: friend, value: '900', nonce: 0, deadline: 1, ...changes },
    domain,
  )

const oldType = { Permit: 'address holder, address spender, uint256 nonce, uint256 expiry, bool allowed' }
const oldPermit = (allowed: unknown) =>
  data('Permit', oldType, { holder: own, spender: friend, nonce: 0, expiry: 0, allowed })

const authorizationFields =
  'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce'
const authorization = (primaryType: string, to: Hex, value: string, domain?: Record<string, unknown>) =>
  data(
    primaryType,
    { [primaryType]: authorizationFields },
    { from: own, to, value, validAfter: 0, validBefore: 1, nonce: `0x${'00'.repeat(32)}` },
    domain,
  )
/** Of coins that a wallet contract of unified balances holds. */
const batched = (to: Hex, value: string) =>
  authorization('TransferWithAuthorization', to, value, {
    name: 'GatewayWalletBatched',
    version: '1',
    chainId,
    verifyingContract: vault,
  })

const domain2 = { name: 'Permit2', chainId, verifyingContract: permit2 }
const allowanceTypes = {
  PermitSingle: 'PermitDetails details, address spender, uint256 sigDeadline',
  PermitBatch: 'PermitDetails[] details, address spender, uint256 sigDeadline',
  PermitDetails: 'address token, uint160 amount, uint48 expiration, uint48 nonce',
}
const details = (token: Hex, amount: string) => ({ token, amount, expiration: 1, nonce: 0 })
const transferTypes = {
  PermitTransferFrom: 'TokenPermissions permitted, address spender, uint256 nonce, uint256 deadline',
  PermitBatchTransferFrom: 'TokenPermissions[] permitted, address spender, uint256 nonce, uint256 deadline',
  PermitWitnessTransferFrom:
    'TokenPermissions permitted, address spender, uint256 nonce, uint256 deadline, Witness witness',
  TokenPermissions: 'address token, uint256 amount',
  Witness: 'address user',
}
const allowance = (type: string, given: unknown, spender: Hex = friend) =>
  data(type, allowanceTypes, { details: given, spender, sigDeadline: 1 }, domain2)
const transfer = (type: string, permitted: unknown, spender: Hex = friend, more = {}) =>
  data(type, transferTypes, { permitted, spender, nonce: 0, deadline: 1, ...more }, domain2)

const vote = (domain: Record<string, unknown>) =>
  data('Vote', { Vote: 'uint256 proposal, bool support' }, { proposal: 1, support: true }, domain)

/** Types that have other names, or hide their meaning inside another type. */
const shapes: [string, Record<string, string>, string, Needs][] = [
  ['Foo', { Foo: 'address spender, uint256 limit' }, 'a spender by another name', ['permit', 'undecodable']],
  [
    'Foo',
    { Foo: 'Bar bar', Bar: 'address spender, uint256 limit' },
    'a spender within',
    ['permit', 'undecodable'],
  ],
  [
    'Foo',
    { Foo: 'Bar[] bars', Bar: 'Baz[2] x', Baz: 'address Spender' },
    'a spender far within',
    ['permit', 'undecodable'],
  ],
  ['Foo', { Foo: 'address operator, bool approved' }, 'an operator', ['setApprovalForAll', 'undecodable']],
  [
    'Foo',
    { Foo: 'address from, address to, uint256 amount' },
    'a transfer',
    ['transferAuthorization', 'undecodable'],
  ],
  [
    'Foo',
    { Foo: 'uint256 chainId, address address, uint64 nonce' },
    'a delegation of the account',
    ['setCode', 'undecodable'],
  ],
  ['Authorization', { Authorization: 'uint256 x' }, 'an authorisation', ['setCode', 'undecodable']],
  [
    'SafeTx',
    { SafeTx: 'address to, uint256 value, bytes data, uint8 operation' },
    'a transaction of an account',
    ['delegateCall', 'undecodable'],
  ],
  ['OrderComponents', { OrderComponents: 'address offerer, uint256 salt' }, 'an order', ['undecodable']],
  ['Foo', { Foo: 'address token, uint256 amount' }, 'a token and an amount', ['permit', 'undecodable']],
  [
    'ForwardRequest',
    { ForwardRequest: 'address target, uint256 gas' },
    'a request to forward',
    ['undecodable'],
  ],
  ['Foo', { Foo: 'address target, bytes callData' }, 'a call', ['undecodable']],
  [
    'UserOperation',
    { UserOperation: 'address sender, uint256 nonce' },
    'an operation of an account',
    ['undecodable'],
  ],
  ['Foo', { Foo: 'address delegatee, uint256 nonce' }, 'a delegation of votes', ['undecodable']],
  [
    'Permit',
    { Permit: 'address usr, uint256 wad' },
    'a permit with other members',
    ['permit', 'undecodable'],
  ],
  ['Foo', { Bar: 'uint256 x' }, 'a type that is not there', ['undecodable']],
  ['Foo', { Foo: 'Foo foo, address spender' }, 'a type within itself', ['permit', 'undecodable']],
  ['__proto__', { Foo: 'uint256 x' }, 'a type of the prototype', 'never'],
]

const typed: [string, DecodableTypedData, Needs][] = [
  ['a permit', permit(), ['permit']],
  ['a permit in hexadecimal', permit({ value: '0x384' }), ['permit']],
  ['a permit for a stranger', permit({ spender: stranger }), 'never'],
  ['a permit of too much', permit({ value: '1001' }), 'never'],
  ['a permit of everything', permit({ value: `0x${'f'.repeat(64)}` }), 'never'],
  ['a permit of a negative amount', permit({ value: '-1' }), ['permit', 'undecodable']],
  ['a permit of an amount with an exponent', permit({ value: '1e30' }), ['permit', 'undecodable']],
  ['a permit of a large number', permit({ value: 1e21 }), ['permit', 'undecodable']],
  ['a permit without its spender', permit({ spender: undefined }), ['permit', 'undecodable']],
  ['a permit for no address', permit({ spender: 'friend.eth' }), ['permit', 'undecodable']],
  ['a permit of another token', permit({}, { chainId, verifyingContract: stranger }), 'never'],
  ['a permit on another chain', permit({}, { chainId: 1, verifyingContract: usdc }), 'never'],
  [
    'a permit on a chain nobody knows',
    permit({}, { chainId: 987_654_321, verifyingContract: usdc }),
    'never',
  ],
  ['a permit on every chain', permit({}, { verifyingContract: usdc }), 'never'],
  ['a permit on chain 0', permit({}, { chainId: 0, verifyingContract: usdc }), 'never'],
  ['a permit on no chain that is one', permit({}, { chainId: 'x', verifyingContract: usdc }), 'never'],
  ['a permit for no contract', permit({}, { chainId }), 'never'],
  [
    'a permit whose chain is not signed',
    { ...permit(), types: { ...permit().types, EIP712Domain: fields('address verifyingContract') } },
    'never',
  ],
  [
    'a permit whose contract is not signed',
    { ...permit(), types: { ...permit().types, EIP712Domain: fields('uint256 chainId') } },
    'never',
  ],
  ['an old permit', oldPermit(true), 'never'],
  ['an old permit taken back', oldPermit(false), ['permit']],
  ['an old permit that is neither', oldPermit('false'), ['permit', 'undecodable']],
  ['a permit of Permit2', allowance('PermitSingle', details(usdc, '5')), ['permit']],
  ['a permit of Permit2 for a stranger', allowance('PermitSingle', details(usdc, '5'), stranger), 'never'],
  ['a permit of Permit2 of another token', allowance('PermitSingle', details(stranger, '5')), 'never'],
  ['a permit of Permit2 of too much', allowance('PermitSingle', details(usdc, '1001')), 'never'],
  [
    'a permit of Permit2 of a list',
    allowance('PermitBatch', [details(usdc, '5'), details(usdc, '6')]),
    ['permit'],
  ],
  [
    'a list that is too much together',
    allowance('PermitBatch', [details(usdc, '600'), details(usdc, '600')]),
    'never',
  ],
  [
    'a list with another token',
    allowance('PermitBatch', [details(usdc, '5'), details(stranger, '6')]),
    'never',
  ],
  ['an empty list', allowance('PermitBatch', []), ['permit', 'undecodable']],
  ['a list of nothing', allowance('PermitBatch', [null]), ['permit', 'undecodable']],
  ['a signed transfer of Permit2', transfer('PermitTransferFrom', { token: usdc, amount: '5' }), ['permit']],
  [
    'a signed transfer for a stranger',
    transfer('PermitTransferFrom', { token: usdc, amount: '5' }, stranger),
    'never',
  ],
  [
    'signed transfers of Permit2',
    transfer('PermitBatchTransferFrom', [{ token: usdc, amount: '5' }]),
    ['permit'],
  ],
  [
    'a signed transfer with a witness',
    transfer('PermitWitnessTransferFrom', { token: usdc, amount: '5' }, friend, { witness: { user: own } }),
    ['permit', 'undecodable'],
  ],
  ...['TransferWithAuthorization', 'ReceiveWithAuthorization'].flatMap(
    (name): [string, DecodableTypedData, Needs][] => [
      [name, authorization(name, friend, '900'), ['transferAuthorization']],
      [`${name} to a stranger`, authorization(name, stranger, '900'), 'never'],
      [`${name} of too much`, authorization(name, friend, '1001'), 'never'],
    ],
  ),
  ['a payment of a unified balance', batched(friend, '900'), ['transferAuthorization']],
  ['a payment of a unified balance to a stranger', batched(stranger, '900'), 'never'],
  ['a payment of a unified balance of too much', batched(friend, '1001'), 'never'],
  ...shapes.map(([primaryType, types, name, needs]): [string, DecodableTypedData, Needs] => [
    name,
    data(primaryType, types, {}),
    needs,
  ]),
  ['a vote', vote({ chainId, verifyingContract: vault }), []],
  ['a vote at another contract', vote({ chainId, verifyingContract: stranger }), 'never'],
  ['a vote on every chain', vote({ verifyingContract: vault }), 'never'],
  [
    'another type at the vault',
    data('Mail', { Mail: 'string text' }, { text: 'x' }, { chainId, verifyingContract: vault }),
    'never',
  ],
  ['fields that are none', { ...permit(), types: { Permit: [null] } } as never, 'never'],
  ['no types', { ...permit(), types: null } as never, 'never'],
]

const messages: [string, Buffer, Needs][] = [
  ['a greeting', Buffer.from('Sign in to example.com'), []],
  ['nothing', Buffer.alloc(0), []],
  ['a binary zero', Buffer.from('a\0b'), []],
  ['a kilobyte', Buffer.alloc(1_024, 0x41), []],
  ['32 bytes', Buffer.alloc(32, 7), ['rawHash']],
  ['32 letters', Buffer.from('x'.repeat(32)), ['rawHash']],
  ['a hash in digits', Buffer.from('ab'.repeat(32)), ['rawHash']],
  ['a hash in digits with 0x', Buffer.from(`0x${'AB'.repeat(32)}`), ['rawHash']],
  ['a hash in digits and a line end', Buffer.from(`0x${'ab'.repeat(32)}\n`), ['rawHash']],
  ['what typed data is hashed from', Buffer.concat([Buffer.of(0x19, 1), Buffer.alloc(64)]), ['rawHash']],
]

const pay = (to: Hex, amount: number): Hex =>
  `0xa9059cbb${to.slice(2).padStart(64, '0')}${amount.toString(16).padStart(64, '0')}`
const signed = (changes: object) =>
  decodeTransaction({
    chainId,
    to: usdc,
    valueAtomic: 0n,
    data: pay(friend, 5),
    authorizations: 0,
    ...changes,
  })
const transactions: [string, ReturnType<typeof signed>, Needs][] = [
  ['a transfer', signed({}), []],
  ['a transfer to a stranger', signed({ data: pay(stranger, 5) }), 'never'],
  ['a transfer of too much', signed({ data: pay(friend, 1_001) }), 'never'],
  ['a transfer on another chain', signed({ chainId: 1 }), 'never'],
  ['a transfer on every chain', signed({ chainId: undefined }), 'never'],
  ['a transfer on chain 0', signed({ chainId: 0 }), 'never'],
  ['a transfer with an authorisation', signed({ authorizations: 1 }), ['setCode']],
  ['a transfer with coins', signed({ valueAtomic: 5n }), []],
  ['a transfer with too many coins', signed({ valueAtomic: 1_001n }), 'never'],
  ['a new contract', signed({ to: undefined }), ['contractCreation']],
  ['coins to the friend', signed({ to: friend, data: '0x', valueAtomic: 5n }), []],
  ['coins to a stranger', signed({ to: stranger, data: '0x', valueAtomic: 5n }), 'never'],
]

export const signingCases: Case[] = [
  ...typed.map(([name, asked, needs]) => ({
    name: `typed data: ${name}`,
    needs,
    operation: { kind: 'signTypedData' as const, ...decodeTypedData(asked) },
  })),
  ...messages.map(([name, asked, needs]) => ({
    name: `a message: ${name}`,
    needs,
    operation: { kind: 'signMessage' as const, ...decodePersonalMessage(asked) },
  })),
  ...transactions.map(([name, decoded, needs]) => ({
    name: `a transaction: ${name}`,
    needs,
    operation: { kind: 'signTransaction' as const, ...decoded },
  })),
]
