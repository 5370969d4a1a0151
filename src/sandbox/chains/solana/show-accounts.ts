import { base58 } from '@scure/base'
import { SolanaRpcError } from './errors.ts'
import type { RpcConfig } from './params.ts'
import { mintIn, tokenAccountIn, tokenPrograms } from './programs.ts'
import type { VmAccount } from './vm.ts'

const u64Max = 2n ** 64n - 1n
const base58BytesMax = 128

/** JSON of nodes has numbers of 64 bits, which this text stands for until it is written. */
export const wholeNumber = (value: bigint): number | bigint =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value

/** An amount of a token as nodes show it. */
export function uiAmount(amount: bigint, decimals: number) {
  const digits = amount.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '')
  const uiAmountString = part === '' ? whole : `${whole}.${part}`
  return { amount: amount.toString(), decimals, uiAmount: Number(uiAmountString), uiAmountString }
}

type AccountReader = (address: string) => VmAccount | undefined

/** Shows an account in the encoding and the part that the caller asks for. */
export function showAccount(
  account: VmAccount,
  { encoding, dataSlice }: RpcConfig,
  accountAt: AccountReader,
) {
  const { lamports, owner, isExecutable, data } = account
  return {
    lamports: wholeNumber(lamports),
    owner,
    executable: isExecutable,
    rentEpoch: u64Max,
    space: data.length,
    data: showData(account, { encoding: encoding ?? 'binary', slice: sliceIn(dataSlice) }, accountAt),
  }
}

type Slice = { offset: number; length: number } | undefined

function sliceIn(value: unknown): Slice {
  if (value === undefined || value === null) return undefined
  const { offset, length } = value as { offset?: unknown; length?: unknown }
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length))
    throw new SolanaRpcError(
      'invalidParams',
      'Invalid params: missing field `offset` or `length` of dataSlice.',
    )
  return { offset: offset as number, length: length as number }
}

function showData(
  account: VmAccount,
  { encoding, slice }: { encoding: unknown; slice: Slice },
  accountAt: AccountReader,
): unknown {
  const data = slice ? account.data.subarray(slice.offset, slice.offset + slice.length) : account.data
  if (encoding === 'base64') return [data.toString('base64'), 'base64']
  if (encoding === 'jsonParsed') return parsedData(account, accountAt) ?? [data.toString('base64'), 'base64']
  if (encoding === 'base58' || encoding === 'binary') {
    if (data.length > base58BytesMax)
      throw new SolanaRpcError(
        'invalidRequest',
        `Encoded binary (base 58) data should be less than ${base58BytesMax} bytes, please use Base64 encoding.`,
      )
    const text = base58.encode(data)
    return encoding === 'binary' ? text : [text, 'base58']
  }
  throw new SolanaRpcError(
    'invalidParams',
    `Invalid params: this node does not serve the encoding \`${String(encoding)}\`, but \`base58\`, \`base64\` and \`jsonParsed\`.`,
  )
}

/** The fields of a mint or an account of a token; undefined of others, which nodes show as bytes. */
function parsedData(account: VmAccount, accountAt: AccountReader): unknown {
  if (!tokenPrograms.includes(account.owner)) return undefined
  const program = account.owner === tokenPrograms[0] ? 'spl-token' : 'spl-token-2022'
  const shown = (type: string, info: unknown) => ({
    program,
    parsed: { type, info },
    space: account.data.length,
  })
  const mint = mintIn(account)
  if (mint)
    return shown('mint', {
      mintAuthority: mint.mintAuthority ?? null,
      supply: mint.supply.toString(),
      decimals: mint.decimals,
      isInitialized: mint.isInitialized,
      freezeAuthority: mint.freezeAuthority ?? null,
    })
  const held = tokenAccountIn(account)
  if (!held) return undefined
  return shown('account', {
    isNative: held.isNative,
    mint: held.mint,
    owner: held.owner,
    state: held.state,
    tokenAmount: uiAmount(held.amount, mintIn(accountAt(held.mint))?.decimals ?? 0),
  })
}
