/** Hook data of burns that have the executor of the destination use what is minted, as published clients encode it. */
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  pad,
  parseAbi,
  parseAbiParameters,
  size,
  stringToHex,
  toHex,
} from 'viem'
import { crosschainContracts } from '#chains/evm/crosschain/deployed-contracts'
import { unifiedBalanceContracts } from '#chains/evm/unified-balance/deployed-contracts'

type Hex = `0x${string}`

const { depositForHandler } = crosschainContracts.TEST
const { wallet } = unifiedBalanceContracts('TEST')

/** The beginning of a part: its name, version 1, and the length of what follows. */
const frame = (name: string, length: number): Hex =>
  concatHex([
    pad(stringToHex(name), { size: 24, dir: 'right' }),
    toHex(1, { size: 4 }),
    toHex(length, { size: 4 }),
  ])

const callParameters = parseAbiParameters('uint8 version, bytes32 recovery, address handler, bytes data')
const depositParameters = parseAbiParameters(
  'address depositContract, address approvalTarget, bytes depositCall, uint256[] amountPlaces',
)

/** A request for the delivery by the executor, and its call of a handler. */
export function executorHook({
  recovery,
  handler = depositForHandler,
  data,
}: {
  recovery: Hex
  handler?: Hex
  data: Hex
}): Hex {
  const call = encodeAbiParameters(callParameters, [1, pad(recovery.toLowerCase() as Hex), handler, data])
  return concatHex([frame('cctp-forward', 0), frame('circle-generic-executor', size(call)), call])
}

/** Data for the handler, which pays into the wallet contract for a depositor; `amountPlaces` are those of the amount in the call. */
export const depositData = (
  token: Hex,
  depositor: Hex,
  { contract = wallet as Hex, amountPlaces = [68n] }: { contract?: Hex; amountPlaces?: bigint[] } = {},
): Hex =>
  encodeAbiParameters(depositParameters, [
    contract,
    contract,
    encodeFunctionData({
      abi: parseAbi(['function depositFor(address token, address depositor, uint256 value)']),
      args: [token, depositor, 0n],
    }),
    amountPlaces,
  ])
