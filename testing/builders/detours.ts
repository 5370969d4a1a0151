/** Calls that give an address value, or power over it, by other ways than a transfer. */
import { encodeFunctionData, parseAbi } from 'viem'
import { forwardHookData } from '#chains/crosschain/forward-hook'
import { stablecoinAbi } from '#chains/evm/abi/stablecoin'
import { tokenMessengerV2Abi } from '#chains/evm/crosschain/artifacts/token-messenger-v2'
import { gatewayWalletAbi } from '#chains/evm/unified-balance/artifacts/gateway-wallet'
import type { TestChain } from '#testing/platform/chain'
import { domainOf, type Hex, tokenMessenger, wordOf } from './burns.ts'
import { wallet as unifiedWallet } from './unified-balances.ts'
import { freshAddress } from './world.ts'

type Route = { source: TestChain; destination: TestChain }

export const zero: Hex = `0x${'0'.repeat(64)}`
const encode = (signature: string | readonly string[], args: readonly unknown[]): Hex => {
  const abi = parseAbi([signature].flat() as readonly string[])
  return encodeFunctionData({ abi, args } as never)
}

type BurnChanges = { to?: Hex; caller?: Hex; hookData?: Hex }

function burnOf(
  { source, destination }: Route,
  { to = freshAddress() as Hex, caller, hookData }: BurnChanges,
): Hex {
  const token = source.tokens.USDC as Hex
  const words = [wordOf(to), token, caller ? wordOf(caller) : zero] as const
  const args = [1_000_000n, domainOf(destination), ...words, 0n, 2_000] as const
  const abi = tokenMessengerV2Abi
  return hookData
    ? encodeFunctionData({ abi, functionName: 'depositForBurnWithHook', args: [...args, hookData] })
    : encodeFunctionData({ abi, functionName: 'depositForBurn', args })
}

/** Calls that pay the address, or give it power over value, each with the contract that is called. */
const calls: Record<string, (to: Hex, route: Route) => [contract: string, data: Hex]> = {
  'a burn for it': (to, route) => [tokenMessenger, burnOf(route, { to })],
  'a burn that it alone may deliver': (caller, route) => [tokenMessenger, burnOf(route, { caller })],
  'a burn whose hook names it': (to, route) => [
    tokenMessenger,
    burnOf(route, { hookData: `${forwardHookData}${to.slice(2)}a9059cbb` }),
  ],
  'a burn whose hook calls a token for it': (to, route) => [
    tokenMessenger,
    burnOf(route, {
      hookData: `${freshAddress() as Hex}${encode('function transfer(address,uint256)', [to, 1n]).slice(2)}`,
    }),
  ],
  'a burn within a batch': (to, route) => [
    freshAddress(),
    encode(
      [
        'struct Call3 { address target; bool allowFailure; bytes data; }',
        'function aggregate3(Call3[] calls)',
      ],
      [[{ target: tokenMessenger, allowFailure: false, data: burnOf(route, { to }) }]],
    ),
  ],
  'a burn within a batch within an execution': (to, route) => [
    freshAddress(),
    encode('function execute(address,uint256,bytes)', [
      freshAddress(),
      0n,
      encode('function executeBatch(address[],uint256[],bytes[])', [
        [tokenMessenger],
        [0n],
        [burnOf(route, { to })],
      ]),
    ]),
  ],
  'a burn by the bridge of clients': (to, route) => [
    freshAddress(),
    encode(
      [
        'struct Params { uint256 amount; uint256 maxFee; uint256 fee; bytes32 mintRecipient; bytes32 destinationCaller; address burnToken; address feeRecipient; uint32 destinationDomain; uint32 minFinalityThreshold; }',
        'function bridgeWithPreapproval(Params params)',
      ],
      [
        {
          amount: 1n,
          maxFee: 0n,
          fee: 0n,
          mintRecipient: wordOf(to),
          destinationCaller: zero,
          burnToken: route.source.tokens.USDC,
          feeRecipient: freshAddress(),
          destinationDomain: domainOf(route.destination),
          minFinalityThreshold: 2_000,
        },
      ],
    ),
  ],
  'a deposit into its unified balance': (to, route) => [
    unifiedWallet,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'depositFor',
      args: [route.source.tokens.USDC as Hex, to, 1n],
    }),
  ],
  'a right to spend a unified balance': (to, route) => [
    unifiedWallet,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'addDelegate',
      args: [route.source.tokens.USDC as Hex, to],
    }),
  ],
  'an approval': (to, route) => [
    route.source.tokens.USDC,
    encodeFunctionData({ abi: stablecoinAbi, functionName: 'approve', args: [to, 1n] }),
  ],
  'an authorization of others that pays it': (to, route) => [
    route.source.tokens.USDC,
    encode(
      'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
      [freshAddress(), to, 1n, 0n, 9n, zero, 27, zero, zero],
    ),
  ],
  'a bridge that takes the recipient as bytes': (to) => [
    freshAddress(),
    encode('function swap(uint16,address,uint256,bytes,bytes)', [1, freshAddress(), 5n, to, '0x']),
  ],
  'a bridge that takes the recipient as a text': (to) => [
    freshAddress(),
    encode('function sendToken(string,string,string,uint256)', ['Avalanche', to, 'USDC', 5n]),
  ],
  'the creation of a contract that pays it': (to) => [
    freshAddress(),
    encode('function deploy(bytes32,bytes)', [zero, `0x5f5f5f5f4773${to.slice(2)}5af100`]),
  ],
  'a function that is unknown here': (to) => [
    freshAddress(),
    encode('function swapAndSend(uint256,address[],address)', [7n, [freshAddress()], to]),
  ],
}

/** These calls by name, each for an address, with the contract that is called. */
export const detoursBetween = (
  route: () => Route,
): Record<string, (to: Hex) => [contract: string, data: Hex]> =>
  Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, (to: Hex) => call(to, route())]))
