/** Tokens that no network lists, on a local chain: well-made ones from the templates, and hostile ones. */
import { concatHex, encodeDeployData, encodeFunctionData, type Hex, numberToHex, pad } from 'viem'
import { erc721Template } from '#api/contracts/templates/artifacts/erc721-template'
import { erc1155Template } from '#api/contracts/templates/artifacts/erc1155-template'
import type { Chain } from '#chains/chain'
import type { NetworkToken } from '#chains/network'
import { seedTokens, unlistedTokenId } from '#engines/ledger/tokens/index'
import { sql } from '#runtime/db/db'
import { devAccounts } from '#sandbox/constants'
import { feeOnTransferTokenAbi, feeOnTransferTokenBytecode } from '#testing/artifacts/fee-on-transfer-token'
import { lyingTokenAbi, lyingTokenBytecode } from '#testing/artifacts/lying-token'
import type { TestChain } from '#testing/platform/chain'
import type { Harness } from '#testing/platform/harness'
import { quantity } from '#testing/platform/json-rpc'

const issuer = devAccounts[6]!.address as Hex
const zero = `0x${'0'.repeat(40)}` as const
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

type Act = (call: { to?: Hex; data?: Hex; value?: bigint }, from?: Hex) => Promise<Hex>

/** Sends from the issuer of tokens, or from an account that the node impersonates. */
export const actorOn =
  (chain: TestChain): Act =>
  async (call, from = issuer) => {
    await chain.rpc('anvil_impersonateAccount', [from])
    const value = quantity(call.value ?? 0n)
    return chain.rpc('eth_sendTransaction', [{ ...call, from, value, gas: quantity(8_000_000) }])
  }

export async function deployOn(chain: TestChain, data: Hex): Promise<Hex> {
  const hash = await actorOn(chain)({ data })
  const receipt = await chain.rpc<{ contractAddress: Hex }>('eth_getTransactionReceipt', [hash])
  return receipt.contractAddress.toLowerCase() as Hex
}

// biome-ignore lint/suspicious/noExplicitAny: the interface of any contract
type AnyAbi = any
export type AnyToken = {
  address: Hex
  /** Calls a function as the issuer. */
  call(functionName: string, args: readonly unknown[]): Promise<Hex>
}

const tokenAt = (chain: TestChain, address: Hex, abi: AnyAbi): AnyToken => ({
  address,
  call: (functionName, args) =>
    actorOn(chain)({ to: address, data: encodeFunctionData({ abi, functionName, args }) }),
})

/** An ERC-20 that burns a part of each transfer; anybody may mint. */
export const deployFeeToken = async (chain: TestChain) =>
  tokenAt(chain, await deployOn(chain, feeOnTransferTokenBytecode), feeOnTransferTokenAbi)

/** Calls itself USDC, writes logs and has no balances. */
export const deployLyingToken = async (chain: TestChain) =>
  tokenAt(chain, await deployOn(chain, lyingTokenBytecode), lyingTokenAbi)

const templates = { ERC721: erc721Template, ERC1155: erc1155Template }

/** A collection of NFTs, minted by the issuer. */
export async function deployCollection(chain: TestChain, standard: 'ERC721' | 'ERC1155', name = 'Pictures') {
  const { abiJson, bytecode } = templates[standard] as { abiJson: string; bytecode: Hex }
  const abi = JSON.parse(abiJson) as AnyAbi
  const args = [name, 'PIC', issuer, issuer, zero, 0n, issuer, 0n, '', []]
  return tokenAt(chain, await deployOn(chain, encodeDeployData({ abi, bytecode, args })), abi)
}

/** Lists a token of 6 decimals on the first chain while `act` runs, which may reconcile that chain. */
export async function whileListed<Result>(
  { ctx, database, chain }: Harness,
  { address }: Pick<AnyToken, 'address'>,
  act: (id: string, chain: Chain) => Promise<Result>,
): Promise<Result> {
  const own = ctx.chains.find(chain().blockchain)!
  const tokens = own.network.tokens as NetworkToken[]
  const id = unlistedTokenId(own.network.blockchain, address)
  tokens.push({ symbol: 'FEE' as 'USDC', name: 'Fee', currency: 'USD', decimals: 6, id, address })
  try {
    await seedTokens(database, [own.network], ctx.clock.nowMs())
    return await act(id, own)
  } finally {
    tokens.pop()
    // A process does not start on books with a listed token that its network lacks.
    await database.run(sql`update tokens set listed = false where id = ${id}`)
  }
}

const word = (value: Hex) => concatHex(['0x7f', pad(value)])
/** Code that stores the amount at the start of memory. */
const storing = (amount: bigint) => concatHex([word(numberToHex(amount)), '0x600052'])
/** Code that logs a transfer of the stored amount from the issuer. */
const claiming = (to: string) =>
  concatHex([word(to as Hex), word(issuer), word(transferTopic), '0x60206000a3'])

/** A contract of this code that claims, while it is created, to have moved `amount` to `to`, as often as `count` says. */
export const deployClaiming = (
  chain: TestChain,
  to: string,
  code: Hex,
  options: { amount?: bigint; count?: number } = {},
): Promise<Hex> => deployOn(chain, deployDataOf(to, code, options))

/** The data that creates such a contract. */
export function deployDataOf(to: string, code: Hex, { amount = 10n ** 18n, count = 1 } = {}): Hex {
  const claim = concatHex([
    storing(amount),
    '0x61' as Hex,
    numberToHex(count, { size: 2 }),
    // The loop begins at byte 39 and counts down.
    '0x5b' as Hex,
    claiming(to),
    '0x6001900380602757' as Hex,
  ])
  const size = numberToHex((code.length - 2) / 2, { size: 2 })
  const start = numberToHex((claim.length - 2) / 2 + 15, { size: 2 })
  // Copies the code behind it and returns it.
  const copy = concatHex(['0x61', size, '0x61', start, '0x6000', '0x39', '0x61', size, '0x6000', '0xf3'])
  return concatHex([claim, copy, code])
}

/** Code that answers every question with `amount`, and claims to have moved it to `to` when it is called without data. */
export function claimingCode(to: string, amount: bigint): Hex {
  // Jumps to byte 145 when there is data.
  const claim = ['0x36609157' as Hex, storing(amount), claiming(to), '0x00' as Hex]
  return concatHex([...claim, '0x5b', storing(amount), '0x60206000f3'])
}

/** Codes of hostile tokens. */
export const hostileCodes: Record<string, Hex> = {
  'reverts always': '0x60006000fd',
  'returns nothing': '0x00',
  'runs out of gas': '0x5b600056',
  'breaks an invalid opcode': '0xfe',
  'returns one megabyte': '0x621000006000f3',
  // A string of 2^255 bytes.
  'lies about the length of its name': concatHex([
    '0x6020600052',
    '0x7f',
    pad('0x80', { dir: 'right' }),
    '0x60205260406000f3',
  ]),
  'has no end of balances': concatHex(['0x7f', `0x${'ff'.repeat(32)}`, '0x60005260206000f3']),
}
