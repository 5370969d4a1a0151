import { parseAddressOf } from '#chains/address'
import { familyOf } from '#chains/blockchains'
import { capabilitiesOf } from '#chains/capabilities'
import { stablecoinIn } from '#chains/network'
import { requireNetwork } from '#chains/networks/index'
import type { BankOrder, BankRail } from '#engines/bank-rail'
import { systemClock } from '#lib/time'
import type { BankRailSetting } from '#runtime/bank-rail-setting'
import { createCaller } from '#runtime/outbound/call'
import { bankSignatureHeader, signBankMessage } from './signature.ts'

const timeoutMs = 10_000
const call = createCaller('private')

/**
 * The bank that the operator connects: orders are posted to a URL, and results come back as signed requests. Throws when its chain
 * or address cannot take redeemed coins.
 */
export function openHttpRail(setting: BankRailSetting): BankRail {
  const { url, secret, instructions } = setting
  const { blockchain, environment } = requireNetwork(setting.blockchain)
  if (!capabilitiesOf(blockchain).businessAccount)
    throw new Error(`BEZANT_BANK_RAIL: the business account holds no coins on ${blockchain}`)
  const address = parseAddressOf(familyOf(blockchain), setting.address, environment)
  if (address === undefined)
    throw new Error(`BEZANT_BANK_RAIL: "${setting.address}" is no address of ${blockchain}`)
  return {
    environment,
    instructions,
    places: (chains) => {
      const network = chains.find(blockchain)?.network
      const token = network && stablecoinIn(network, 'USD')
      return token ? [{ network, token, address }] : []
    },
    send: async (order: BankOrder) => {
      const body = Buffer.from(JSON.stringify(order))
      const signature = signBankMessage(secret, 'order', Math.floor(systemClock.nowMs() / 1000), body)
      const headers = { 'Content-Type': 'application/json', [bankSignatureHeader]: signature }
      const { status } = await call({ method: 'POST', url, timeoutMs, headers, body })
      if (status < 200 || status > 299) throw new Error(`the bank answered with the status ${status}`)
      return {}
    },
  }
}
