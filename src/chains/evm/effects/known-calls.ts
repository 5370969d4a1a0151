import { type AbiFunction, parseAbi, toFunctionSelector } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { Danger } from '../../facets/call-effects.ts'
import { crosschainCalls } from './known-crosschain-calls.ts'
import type { KnownCall, KnownEffect } from './known-effect.ts'
import { permitCalls } from './known-permit-calls.ts'

const everything = 2n ** 256n - 1n
const lower = (address: Address) => address.toLowerCase() as Address

const moves =
  (does: 'transfer' | 'approval') =>
  (to: Address, amountAtomic: bigint, token?: Address): KnownEffect => ({
    does,
    to: lower(to),
    amountAtomic,
    ...(token && { token: lower(token) }),
  })
const transfer = moves('transfer')
const approval = moves('approval')
const call = (to: Address | undefined, valueAtomic: bigint, data: Hex): KnownEffect => ({
  does: 'call',
  ...(to && { to: lower(to) }),
  valueAtomic,
  data,
})
const danger = (name: Danger): KnownEffect => ({ does: 'danger', danger: name })
const nothing = () => []
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

const calls = new Map<string, KnownCall>()

/** `structs` are the definitions that the signatures name. */
function know(
  signatures: readonly string[],
  // biome-ignore lint/suspicious/noExplicitAny: the arguments have the types that the signature beside it says
  read: (...args: any[]) => KnownEffect[],
  named?: Danger,
  structs: readonly string[] = [],
  byName = false,
): void {
  for (const signature of signatures) {
    const [item] = parseAbi([...structs, `function ${signature}`] as readonly string[]) as unknown as [
      AbiFunction,
    ]
    calls.set(toFunctionSelector(item), {
      inputs: item.inputs,
      danger: named,
      byName,
      read: (args) => read(...args),
    })
  }
}

know(
  ['transfer(address to, uint256 amount)', 'transferAndCall(address to, uint256 amount)'],
  (to, amount) => [transfer(to, amount)],
)
know(
  ['transferAndCall(address to, uint256 amount, bytes data)', 'send(address to, uint256 amount, bytes data)'],
  (to, amount) => [transfer(to, amount)],
)
know(
  [
    'transferFrom(address from, address to, uint256 amount)',
    'transferFromAndCall(address from, address to, uint256 amount)',
    'transferFromAndCall(address from, address to, uint256 amount, bytes data)',
    'safeTransferFrom(address from, address to, uint256 id)',
    'safeTransferFrom(address from, address to, uint256 id, bytes data)',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
    'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
    'receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
  ],
  (_, to, amount) => [transfer(to, amount)],
)
know(
  ['safeTransferFrom(address from, address to, uint256 id, uint256 amount, bytes data)'],
  (_, to, __, amount) => [transfer(to, amount)],
)
know(
  ['safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)'],
  (_, to, __, amounts) => [transfer(to, sum(amounts))],
)
know(['cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)'], nothing)

know(
  [
    'approve(address spender, uint256 amount)',
    'approveAndCall(address spender, uint256 amount)',
    'approveAndCall(address spender, uint256 amount, bytes data)',
  ],
  (spender, amount) => [approval(spender, amount)],
  'approve',
)
know(
  ['increaseAllowance(address spender, uint256 added)', 'increaseApproval(address spender, uint256 added)'],
  (spender, added) => [approval(spender, added)],
  'increaseAllowance',
)
know(
  [
    'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
    'permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
  ],
  (_, spender, value) => [approval(spender, value)],
  'permit',
)
know(
  [
    'permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)',
  ],
  (_, spender, __, ___, allowed) => [approval(spender, allowed ? everything : 0n)],
  'permit',
)
know(
  ['setApprovalForAll(address operator, bool approved)'],
  (operator, approved) => [approval(operator, approved ? everything : 0n)],
  'setApprovalForAll',
)
know(
  ['authorizeOperator(address operator)'],
  (operator) => [approval(operator, everything)],
  'setApprovalForAll',
)

// Permit2, where approvals name the token.
const permit2 = [
  'struct Details { address token; uint160 amount; uint48 expiration; uint48 nonce; }',
  'struct Single { Details details; address spender; uint256 sigDeadline; }',
  'struct Batch { Details[] details; address spender; uint256 sigDeadline; }',
  'struct Transfer { address from; address to; uint160 amount; address token; }',
]
know(
  ['approve(address token, address spender, uint160 amount, uint48 expiration)'],
  (token, spender, amount) => [approval(spender, amount, token)],
  'approve',
)
know(
  ['permit(address owner, Single permit, bytes signature)'],
  (_, { details, spender }) => [approval(spender, details.amount, details.token)],
  'permit',
  permit2,
)
know(
  ['permit(address owner, Batch permit, bytes signature)'],
  (_, { details, spender }) =>
    details.map(({ token, amount }: { token: Address; amount: bigint }) => approval(spender, amount, token)),
  'permit',
  permit2,
)
know(['transferFrom(address from, address to, uint160 amount, address token)'], (_, to, amount, token) => [
  transfer(to, amount, token),
])
know(
  ['transferFrom(Transfer[] details)'],
  (details: readonly { to: Address; amount: bigint; token: Address }[]) =>
    details.map(({ to, amount, token }) => transfer(to, amount, token)),
  undefined,
  permit2,
)

// Batches of calls.
const inner = [
  'struct Call { address target; bytes data; }',
  'struct Call3 { address target; bool allowFailure; bytes data; }',
  'struct Call3Value { address target; bool allowFailure; uint256 value; bytes data; }',
  'struct Execution { address target; uint256 value; bytes data; }',
]
type Inner = { target: Address; value?: bigint; data: Hex }
const each = (list: readonly Inner[]) => list.map(({ target, value = 0n, data }) => call(target, value, data))

know(['multicall(bytes[] data)'], (list: readonly Hex[]) => list.map((data) => call(undefined, 0n, data)))
know(
  ['multicall(uint256 deadline, bytes[] data)', 'multicall(bytes32 blockHash, bytes[] data)'],
  (_, list: readonly Hex[]) => list.map((data) => call(undefined, 0n, data)),
)
know(
  [
    'aggregate(Call[] calls)',
    'blockAndAggregate(Call[] calls)',
    'aggregate3(Call3[] calls)',
    'aggregate3Value(Call3Value[] calls)',
    'execute(Execution[] calls)',
    'executeBatch(Execution[] calls)',
  ],
  each,
  undefined,
  inner,
)
know(
  [
    'tryAggregate(bool requireSuccess, Call[] calls)',
    'tryBlockAndAggregate(bool requireSuccess, Call[] calls)',
  ],
  (_, list) => each(list),
  undefined,
  inner,
)
know(['execute(address target, uint256 value, bytes data)'], (to, value, data) => [call(to, value, data)])
know(['executeBatch(address[] targets, bytes[] data)'], (targets: readonly Address[], data: readonly Hex[]) =>
  pairUp(targets, [], data),
)
know(
  ['executeBatch(address[] targets, uint256[] values, bytes[] data)'],
  (targets: readonly Address[], values: readonly bigint[], data: readonly Hex[]) =>
    values.length === 0 || values.length === targets.length
      ? pairUp(targets, values, data)
      : [danger('undecodable')],
)

function pairUp(targets: readonly Address[], values: readonly bigint[], data: readonly Hex[]): KnownEffect[] {
  if (targets.length !== data.length) return [danger('undecodable')]
  return targets.map((target, index) => call(target, values[index] ?? 0n, data[index]!))
}

// Accounts that call on behalf of their owners; with operation 1 they run the target's code as their own.
const onBehalf = (to: Address, value: bigint, data: Hex, operation: number) =>
  operation === 0 ? [call(to, value, data)] : [danger('delegateCall'), danger('undecodable')]
know(
  [
    'execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)',
    'execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)',
    'execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation)',
  ],
  onBehalf,
)
know(
  [
    'multiSend(bytes transactions)',
    'execute(address target, bytes data)',
    'execute(bytes code, bytes data)',
    'execute(bytes32 mode, bytes executionCalldata)',
    'delegatecall(address target, bytes data)',
    'delegateCall(address target, bytes data)',
    'functionDelegateCall(address target, bytes data)',
  ],
  () => [danger('undecodable')],
  'delegateCall',
)

// Changes of a contract's code or of its owner.
know(
  [
    'upgradeTo(address implementation)',
    'upgradeToAndCall(address implementation, bytes data)',
    'upgrade(address proxy, address implementation)',
    'upgradeAndCall(address proxy, address implementation, bytes data)',
    'changeAdmin(address admin)',
    'changeProxyAdmin(address proxy, address admin)',
    'setImplementation(address implementation)',
    'setBeacon(address beacon)',
    'transferOwnership(address owner)',
    'acceptOwnership()',
    'renounceOwnership()',
    'setOwner(address owner)',
    'setAuthority(address authority)',
    'grantRole(bytes32 role, address account)',
    'enableModule(address module)',
    'setGuard(address guard)',
    'setFallbackHandler(address handler)',
    'addOwnerWithThreshold(address owner, uint256 threshold)',
    'swapOwner(address previous, address old, address fresh)',
    'installModule(uint256 type, address module, bytes data)',
  ],
  nothing,
  'upgrade',
)
// The owners of our smart accounts.
const owners = 'address[] owners, uint256[] weights, Key[] keys, uint256[] keyWeights, uint256 threshold'
know(
  [
    `addOwners(${owners})`,
    `updateMultisigWeights(${owners})`,
    'removeOwners(address[] owners, Key[] keys, uint256 threshold)',
  ],
  nothing,
  'upgrade',
  ['struct Key { uint256 x; uint256 y; }'],
)
know(['diamondCut(Cut[] cuts, address init, bytes data)'], nothing, 'upgrade', [
  'struct Cut { address facet; uint8 action; bytes4[] selectors; }',
])

for (const { signatures, read, danger: named, structs, byName } of [...crosschainCalls, ...permitCalls])
  know(signatures, read, named, structs, byName)

export const knownCall = (selector: Hex): KnownCall | undefined => calls.get(selector)
