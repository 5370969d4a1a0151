/** Wallets of the browser: those that announce themselves (EIP-6963) are asked as EIP-1193 says. None is asked before a press. */

const walletsMax = 6
const nameMax = 40
const imageMax = 100_000
/** The time in which wallets announce themselves, before one of the older kind is taken. */
const announceMs = 500

/** Calls `changed` with all wallets found so far. */
export function findWallets(changed) {
  const found = []
  const add = (wallet) => {
    if (found.length >= walletsMax || found.some(({ id }) => id === wallet.id)) return
    found.push(wallet)
    changed(found)
  }
  addEventListener('eip6963:announceProvider', ({ detail }) => {
    const { info, provider } = detail ?? {}
    if (typeof provider?.request !== 'function' || typeof info?.uuid !== 'string') return
    add({ id: info.uuid, name: textOf(info.name), image: imageOf(info.icon), provider })
  })
  dispatchEvent(new Event('eip6963:requestProvider'))
  setTimeout(() => {
    const provider = globalThis.ethereum
    if (found.length === 0 && typeof provider?.request === 'function') add({ id: 'ethereum', provider })
  }, announceMs)
}

const textOf = (text) =>
  typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, nameMax) : undefined

/** An image within the address alone: nothing is loaded from elsewhere. */
const imageOf = (address) =>
  typeof address === 'string' &&
  address.length <= imageMax &&
  /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/.test(address)
    ? address
    : undefined

/** An end of a payment without a transaction, by the name of its words. */
class Ended extends Error {}

/**
 * Lets a wallet make the call that the server wrote, and returns the hash of its transaction. `tell` gets the name of each step;
 * `isCurrent` says whether the page still asks for just this call. Throws an error whose message is the name of the end.
 */
export async function payWith(provider, { network: chainId, to, data }, { tell, isCurrent }) {
  const ask = (method, params) => provider.request({ method, params })
  const isThere = async () => sameNumber(await ask('eth_chainId', []), chainId)
  tell('connecting')
  const [account] = (await ask('eth_requestAccounts', []).catch(ended('failed'))) ?? []
  if (typeof account !== 'string') throw new Ended('noAccount')
  if (!(await isThere().catch(ended('failed')))) {
    tell('switching')
    await ask('wallet_switchEthereumChain', [{ chainId }]).catch((error) => {
      throw isUnknownChain(error) ? new Ended('unknownNetwork') : endOf(error, 'otherNetwork')
    })
    if (!(await isThere().catch(ended('failed')))) throw new Ended('otherNetwork')
  }
  if (!(await isCurrent())) throw new Ended('changed')
  tell('asking')
  const call = { from: account, to, data, value: '0x0', chainId }
  const hash = await ask('eth_sendTransaction', [call]).catch(ended('unsure'))
  if (!/^0x[0-9a-f]{64}$/i.test(hash)) throw new Ended('unsure')
  return hash.toLowerCase()
}

const sameNumber = (one, other) => {
  try {
    return BigInt(one) === BigInt(other)
  } catch {
    return false
  }
}

/** Codes of EIP-1193 and of wallets: the user declined; a request is open already; the network is not known. */
const declined = 4001
const busy = -32002
const unknownChain = 4902

const isUnknownChain = (error) =>
  error?.code === unknownChain || error?.data?.originalError?.code === unknownChain

const endOf = (error, otherwise) =>
  new Ended(error?.code === declined ? 'declined' : error?.code === busy ? 'busy' : otherwise)

const ended = (otherwise) => (error) => {
  throw endOf(error, otherwise)
}

/** The name of the end that an error tells; `failed` for one that no wallet caused. */
export const endIn = (error) => (error instanceof Ended ? error.message : 'failed')
