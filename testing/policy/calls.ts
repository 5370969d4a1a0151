import { encodeFunctionData, parseAbi } from 'viem'
import { type DecodableCall, decodeCall } from '#chains/evm/effects/decode-call'
import type { Hex } from '#lib/hex'
import { batcher, blockchain, type Case, friend, own, permit2, stranger, usdc, vault } from './rules.ts'

const everything = 2n ** 256n - 1n

const encode = (signature: string, ...args: unknown[]): Hex =>
  encodeFunctionData({ abi: parseAbi([`function ${signature}`] as readonly string[]), args } as never)

const hash: Hex = `0x${'12'.repeat(32)}`
const signature: Hex = `0x${'34'.repeat(65)}`
const rest = [27, hash, hash] as const

/** Calls of USDC that move or permit at most `amount` to `to`, and the permissions that each needs. */
const usdcCalls = (to: Hex, amount: bigint): [string, Hex, readonly string[]][] => [
  ['transfer', encode('transfer(address,uint256)', to, amount), []],
  ['transferFrom', encode('transferFrom(address,address,uint256)', own, to, amount), []],
  ['transferAndCall', encode('transferAndCall(address,uint256,bytes)', to, amount, '0x01'), []],
  ['safeTransferFrom', encode('safeTransferFrom(address,address,uint256)', own, to, amount), []],
  [
    'safeTransferFrom of many',
    encode('safeTransferFrom(address,address,uint256,uint256,bytes)', own, to, 1n, amount, '0x'),
    [],
  ],
  [
    'safeBatchTransferFrom',
    encode('safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)', own, to, [1n], [amount], '0x'),
    [],
  ],
  [
    'transferWithAuthorization',
    encode(
      'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      own,
      to,
      amount,
      0n,
      everything,
      hash,
      ...rest,
    ),
    [],
  ],
  [
    'receiveWithAuthorization in bytes',
    encode(
      'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
      own,
      to,
      amount,
      0n,
      everything,
      hash,
      signature,
    ),
    [],
  ],
  ['approve', encode('approve(address,uint256)', to, amount), ['approve']],
  ['approveAndCall', encode('approveAndCall(address,uint256,bytes)', to, amount, '0x'), ['approve']],
  ['increaseAllowance', encode('increaseAllowance(address,uint256)', to, amount), ['increaseAllowance']],
  ['increaseApproval', encode('increaseApproval(address,uint256)', to, amount), ['increaseAllowance']],
  [
    'permit',
    encode(
      'permit(address,address,uint256,uint256,uint8,bytes32,bytes32)',
      own,
      to,
      amount,
      everything,
      ...rest,
    ),
    ['permit'],
  ],
  [
    'permit in bytes',
    encode('permit(address,address,uint256,uint256,bytes)', own, to, amount, everything, signature),
    ['permit'],
  ],
]

type Asked = [string, DecodableCall, readonly string[] | 'never']

const call = (to: Hex | undefined, data: Hex, valueAtomic = 0n): DecodableCall => ({ to, valueAtomic, data })

/** Each call: to the friend, to a stranger, beyond the limit, of another token, and in disguise. */
const tokenCalls: Asked[] = [
  ...usdcCalls(friend, 900n).map(([name, data, needs]): Asked => [name, call(usdc, data), needs]),
  ...usdcCalls(stranger, 900n).map(
    ([name, data]): Asked => [`${name} to a stranger`, call(usdc, data), 'never'],
  ),
  ...usdcCalls(friend, 1_001n).map(
    ([name, data]): Asked => [`${name} of too much`, call(usdc, data), 'never'],
  ),
  ...usdcCalls(friend, everything).map(
    ([name, data]): Asked => [`${name} of everything`, call(usdc, data), 'never'],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data]): Asked => [`${name} of another token`, call(stranger, data), 'never'],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data, needs]): Asked => [
      `${name} with a byte too many`,
      call(usdc, `${data}00`),
      [...needs, 'undecodable'],
    ],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data, needs]): Asked => [
      `${name} with a word too many`,
      call(usdc, `${data}${'00'.repeat(32)}`),
      [...needs, 'undecodable'],
    ],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data, needs]): Asked => [
      `${name} with a dirty address`,
      call(usdc, `${data.slice(0, 10)}01${data.slice(12)}` as Hex),
      [...needs, 'undecodable'],
    ],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data, needs]): Asked => [
      `${name} cut short`,
      call(usdc, data.slice(0, -2) as Hex),
      [...needs, 'undecodable'],
    ],
  ),
  ...usdcCalls(friend, 900n).map(
    ([name, data, needs]): Asked => [
      `${name} without arguments`,
      call(usdc, data.slice(0, 10) as Hex),
      [...needs, 'undecodable'],
    ],
  ),
]

const batches = parseAbi([
  'function multicall(bytes[] data)',
  'function multicall(uint256 deadline, bytes[] data)',
  'function aggregate((address target, bytes data)[] calls)',
  'function aggregate3((address target, bool allowFailure, bytes data)[] calls)',
  'function aggregate3Value((address target, bool allowFailure, uint256 value, bytes data)[] calls)',
  'function tryAggregate(bool required, (address target, bytes data)[] calls)',
  'function execute(address target, uint256 value, bytes data)',
  'function executeBatch(address[] targets, bytes[] data)',
  'function executeBatch(address[] targets, uint256[] values, bytes[] data)',
  'function executeBatch((address target, uint256 value, bytes data)[] calls)',
])

/** The same inner call of USDC, put into every kind of batch. */
function batched(data: Hex, value = 0n): [string, Hex, Hex][] {
  const [self, deadline, aggregate, aggregate3, withValue, attempt, execute, pairs, triples, structs] =
    batches.map(
      (item) =>
        (...args: unknown[]) =>
          encodeFunctionData({ abi: [item], args } as never),
    )
  const target = usdc
  return [
    ['multicall', usdc, self!([data])],
    ['multicall with a deadline', usdc, deadline!(1n, [data])],
    ['aggregate', batcher, aggregate!([{ target, data }])],
    ['aggregate3', batcher, aggregate3!([{ target, allowFailure: true, data }])],
    ['aggregate3Value', batcher, withValue!([{ target, allowFailure: true, value, data }])],
    ['tryAggregate', batcher, attempt!(false, [{ target, data }])],
    ['execute', batcher, execute!(target, value, data)],
    ['executeBatch of pairs', batcher, pairs!([target], [data])],
    ['executeBatch of triples', batcher, triples!([target], [value], [data])],
    ['executeBatch of structs', batcher, structs!([{ target, value, data }])],
  ]
}

const pay = (to: Hex, amount: bigint) => encode('transfer(address,uint256)', to, amount)
const approve = encode('approve(address,uint256)', friend, 5n)

function nested(data: Hex, depth: number): Hex {
  return depth === 0 ? data : nested(encode('multicall(bytes[])', [data]), depth - 1)
}

const batchCalls: Asked[] = [
  ...batched(pay(friend, 5n)).map(([name, to, data]): Asked => [`${name} of a transfer`, call(to, data), []]),
  ...batched(pay(stranger, 5n)).map(
    ([name, to, data]): Asked => [`${name} of a transfer to a stranger`, call(to, data), 'never'],
  ),
  ...batched(approve).map(
    ([name, to, data]): Asked => [`${name} of an approval`, call(to, data), ['approve']],
  ),
  ...batched(`${pay(friend, 5n)}00`).map(
    ([name, to, data]): Asked => [`${name} of a transfer in disguise`, call(to, data), ['undecodable']],
  ),
  ...batched('0x12345678').map(
    ([name, to, data]): Asked => [`${name} of what nobody knows`, call(to, data), ['undecodable']],
  ),
  ...batched(nested(approve, 2)).map(
    ([name, to, data]): Asked => [`${name} of an approval in two multicalls`, call(to, data), ['approve']],
  ),
  ...batched(pay(friend, 5n)).map(
    ([name, to, data]): Asked => [`${name} with a byte too many`, call(to, `${data}00`), ['undecodable']],
  ),
  [
    'many small transfers that are too much together',
    call(usdc, encode('multicall(bytes[])', [pay(friend, 600n), pay(friend, 600n)])),
    'never',
  ],
  ['a transfer in four multicalls', call(usdc, nested(pay(friend, 5n), 4)), []],
  ['a transfer in five multicalls', call(usdc, nested(pay(friend, 5n), 5)), ['undecodable']],
  ['a transfer to a stranger in nine multicalls', call(usdc, nested(pay(stranger, 5n), 9)), ['undecodable']],
  [
    'a hundred transfers in one',
    call(usdc, encode('multicall(bytes[])', Array(100).fill(pay(friend, 1n)))),
    ['undecodable'],
  ],
  [
    'a batch with more targets than calls',
    call(batcher, encode('executeBatch(address[],bytes[])', [usdc, usdc], [pay(friend, 1n)])),
    ['undecodable'],
  ],
  [
    'coins to a stranger in a batch',
    call(batcher, encode('execute(address,uint256,bytes)', stranger, 5n, '0x')),
    'never',
  ],
  [
    'coins to the friend in a batch',
    call(batcher, encode('execute(address,uint256,bytes)', friend, 5n, '0x')),
    [],
  ],
]

const danger = (needs: readonly string[], ...signatures: [string, ...unknown[]][]): Asked[] =>
  signatures.map(([text, ...args]) => [
    `${text} with ${args.at(-1)}`,
    call(usdc, encode(text, ...args)),
    needs,
  ])

const other: Asked[] = [
  ...danger(
    ['upgrade'],
    ['upgradeTo(address)', friend],
    ['upgradeToAndCall(address,bytes)', friend, '0x'],
    ['upgrade(address,address)', usdc, friend],
    ['upgradeAndCall(address,address,bytes)', usdc, friend, '0x'],
    ['changeAdmin(address)', friend],
    ['changeProxyAdmin(address,address)', usdc, friend],
    ['setImplementation(address)', friend],
    ['transferOwnership(address)', friend],
    ['renounceOwnership()'],
    ['setOwner(address)', friend],
    ['grantRole(bytes32,address)', hash, friend],
    ['enableModule(address)', friend],
    ['setGuard(address)', friend],
    ['setFallbackHandler(address)', friend],
    ['addOwnerWithThreshold(address,uint256)', friend, 1n],
    ['swapOwner(address,address,address)', own, own, friend],
    ['installModule(uint256,address,bytes)', 1n, friend, '0x'],
    ['diamondCut((address,uint8,bytes4[])[],address,bytes)', [[friend, 0, ['0x12345678']]], friend, '0x'],
  ),
  ...danger(
    ['delegateCall', 'undecodable'],
    ['multiSend(bytes)', '0x00'],
    ['execute(address,bytes)', friend, pay(friend, 1n)],
    ['execute(bytes,bytes)', '0x60', '0x'],
    ['execute(bytes32,bytes)', `0xff${'00'.repeat(31)}`, friend],
    ['delegatecall(address,bytes)', friend, '0x'],
    ['functionDelegateCall(address,bytes)', friend, '0x'],
    ...[1, 2].map((operation): [string, ...unknown[]] => [
      'execTransactionFromModule(address,uint256,bytes,uint8)',
      usdc,
      0n,
      pay(friend, 1n),
      operation,
    ]),
  ),
  ...danger([], ['execTransactionFromModule(address,uint256,bytes,uint8)', usdc, 0n, pay(friend, 1n), 0]),
  ['setApprovalForAll', call(usdc, encode('setApprovalForAll(address,bool)', friend, true)), 'never'],
  [
    'setApprovalForAll taken back',
    call(usdc, encode('setApprovalForAll(address,bool)', friend, false)),
    ['setApprovalForAll'],
  ],
  [
    'setApprovalForAll with a dirty bool',
    call(usdc, `${encode('setApprovalForAll(address,bool)', friend, false).slice(0, -1)}2` as Hex),
    ['setApprovalForAll', 'undecodable'],
  ],
  ['authorizeOperator', call(usdc, encode('authorizeOperator(address)', friend)), 'never'],
  [
    'permit of everything in the old form',
    call(
      usdc,
      encode(
        'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
        own,
        friend,
        1n,
        1n,
        true,
        ...rest,
      ),
    ),
    'never',
  ],
  [
    'permit of nothing in the old form',
    call(
      usdc,
      encode(
        'permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)',
        own,
        friend,
        1n,
        1n,
        false,
        ...rest,
      ),
    ),
    ['permit'],
  ],
  [
    'an approval of Permit2',
    call(permit2, encode('approve(address,address,uint160,uint48)', usdc, friend, 5n, 1)),
    ['approve'],
  ],
  [
    'an approval of Permit2 for a stranger',
    call(permit2, encode('approve(address,address,uint160,uint48)', usdc, stranger, 5n, 1)),
    'never',
  ],
  [
    'an approval of Permit2 of another token',
    call(permit2, encode('approve(address,address,uint160,uint48)', stranger, friend, 5n, 1)),
    'never',
  ],
  [
    'an approval of Permit2 beyond its type',
    call(
      permit2,
      encode('approve(address,address,uint160,uint48)', usdc, friend, 5n, 1)
        .replace(/5(?=[0-9a-f]{64}$)/, `5`)
        .replace(/0{63}5(?=[0-9a-f]{64}$)/, `f${'0'.repeat(62)}5`) as Hex,
    ),
    ['approve', 'undecodable'],
  ],
  [
    'a transfer of Permit2',
    call(permit2, encode('transferFrom(address,address,uint160,address)', own, friend, 5n, usdc)),
    [],
  ],
  [
    'a transfer of Permit2 to a stranger',
    call(permit2, encode('transferFrom(address,address,uint160,address)', own, stranger, 5n, usdc)),
    'never',
  ],
  [
    'transfers of Permit2',
    call(
      permit2,
      encode('transferFrom((address,address,uint160,address)[])', [
        [own, friend, 5n, usdc],
        [own, friend, 5n, usdc],
      ]),
    ),
    [],
  ],
  [
    'transfers of Permit2, one to a stranger',
    call(
      permit2,
      encode('transferFrom((address,address,uint160,address)[])', [
        [own, friend, 5n, usdc],
        [own, stranger, 5n, usdc],
      ]),
    ),
    'never',
  ],
  [
    'a permit of Permit2',
    call(
      permit2,
      encode(
        'permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)',
        own,
        [[usdc, 5n, 1, 0], friend, 1n],
        signature,
      ),
    ),
    ['permit'],
  ],
  [
    'a permit of Permit2 for two tokens',
    call(
      permit2,
      encode(
        'permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)',
        own,
        [
          [
            [usdc, 5n, 1, 0],
            [stranger, 5n, 1, 0],
          ],
          friend,
          1n,
        ],
        signature,
      ),
    ),
    'never',
  ],
  ...[friend, stranger].flatMap((to): Asked[] => [
    [
      `a payment of a permit to ${to === friend ? 'a friend' : 'a stranger'}`,
      call(
        permit2,
        encode(
          'settle(((address,uint256),uint256,uint256),address,(address,uint256),bytes)',
          [[usdc, 5n], 1n, 1n],
          own,
          [to, 0n],
          signature,
        ),
      ),
      to === friend ? ['undecodable'] : 'never',
    ],
    [
      `a part of a permit to ${to === friend ? 'a friend' : 'a stranger'}, approved before`,
      call(
        permit2,
        encode(
          'settleWithPermit((uint256,uint256,bytes32,bytes32,uint8),((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes)',
          [5_000n, 1n, hash, hash, 27],
          [[usdc, 5_000n], 1n, 1n],
          5n,
          own,
          [to, own, 0n],
          signature,
        ),
      ),
      to === friend ? ['undecodable'] : 'never',
    ],
  ]),
  ['a function that is listed', call(vault, encode('deposit(uint256)', 5n)), []],
  ['a function that is not listed', call(vault, encode('withdraw(uint256)', 5n)), 'never'],
  ['a listed function with coins', call(vault, encode('deposit(uint256)', 5n), 1_000n), []],
  ['a listed function with too many coins', call(vault, encode('deposit(uint256)', 5n), 1_001n), 'never'],
  [
    'a function nobody knows, where any is allowed',
    call(usdc, encode('mystery(uint256)', 5n)),
    ['undecodable'],
  ],
  ['three bytes', call(usdc, '0x123456'), ['undecodable']],
  ['coins to the friend', call(friend, '0x', 5n), []],
  ['no coins to a stranger', call(stranger, '0x', 0n), 'never'],
  ['coins to a stranger', call(stranger, '0x', 5n), 'never'],
  ['too many coins', call(friend, '0x', 1_001n), 'never'],
  ['a new contract', call(undefined, '0x60006000'), ['contractCreation']],
  ['a new contract with coins', call(undefined, '0x60006000', 5n), ['contractCreation']],
  ['a megabyte', call(usdc, `${pay(friend, 5n)}${'00'.repeat(200_000)}`), 'never'],
  [
    'a transfer whose bytes overlap',
    call(
      usdc,
      `${encode('transferAndCall(address,uint256,bytes)', friend, 5n, '0x01').slice(0, -192)}${'20'.padStart(64, '0')}` as Hex,
    ),
    ['undecodable'],
  ],
]

export const callCases: Case[] = [...tokenCalls, ...batchCalls, ...other].map(([name, asked, needs]) => ({
  name,
  needs,
  operation: {
    kind: asked.to === undefined ? 'contractDeployment' : 'contractExecution',
    ...decodeCall(blockchain, asked),
  },
}))
