import { decodeBurnBody, decodeMessage } from '#chains/crosschain/message'
import { nativeForm } from '#chains/crosschain/native-address'
import { type NetworkToken, stablecoinAt } from '#chains/network'
import type { Network } from '#chains/networks/index'
import type { Hex } from '#lib/hex'

/** The token that the message of a burn on this network names; `undefined` for one that is not listed. Throws MessageProblem. */
export function burntToken(network: Network, message: Hex): NetworkToken | undefined {
  const address = nativeForm(decodeBurnBody(decodeMessage(message).messageBody).burnToken)
  return stablecoinAt(network, address)
}
