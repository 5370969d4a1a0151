import { createCaller } from '#runtime/outbound/call'

/** A page shows the metadata of fifty. */
const bytesMax = 65_536
const timeoutMs = 10_000

/** Strangers choose these addresses. */
const ask = createCaller('public')
/** The operator chose the gateway, which may be in the network of this server. */
const askGateway = createCaller('private')

/**
 * Reads the metadata at an address that a contract tells: a JSON object, as its text, since numbers in it may be exact to any
 * digit. `ipfs://` is read from the
 * operator's gateway, `data:` holds it. Redirects are not followed. Throws with the reason when there is none.
 */
export async function readMetadata(uri: string, gateway: string | undefined): Promise<string> {
  const text = uri.startsWith('data:') ? inData(uri) : await fetched(uri, gateway)
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('it is no JSON object')
  // The database stores no NUL, which JSON has as an escape alone.
  return text.replaceAll('\0', '').trim()
}

function inData(uri: string): string {
  const [, head = '', data = ''] = /^data:([^,]*),(.*)$/s.exec(uri) ?? []
  return /;base64$/i.test(head) ? Buffer.from(data, 'base64').toString('utf8') : decodeURIComponent(data)
}

async function fetched(uri: string, gateway: string | undefined): Promise<string> {
  const path = ipfsPath(uri)
  if (path !== undefined && gateway === undefined) throw new Error('no gateway of IPFS is configured')
  const url = path === undefined ? uri : `${gateway}/ipfs/${path}`
  const call = path === undefined ? ask : askGateway
  const { status, text, isWhole } = await call({
    method: 'GET',
    url,
    timeoutMs,
    keptBytes: bytesMax,
    headers: { Accept: 'application/json' },
  })
  if (status !== 200) throw new Error(`the answer is ${status}`)
  if (!isWhole) throw new Error(`the answer breaks off, or has more than ${bytesMax} bytes`)
  return text
}

/**
 * The path of an `ipfs://` address on a gateway: an identifier of content and names below it. Names that would lead
 * elsewhere on the gateway's host are refused.
 */
function ipfsPath(uri: string): string | undefined {
  if (!/^ipfs:\/\//i.test(uri)) return undefined
  const [identifier = '', ...names] = uri
    .slice('ipfs://'.length)
    .replace(/^ipfs\//i, '')
    .split('/')
  if (!/^[a-z0-9]{46,128}$/i.test(identifier)) throw new Error('it names no content of IPFS')
  const decoded = names.map(decodeURIComponent)
  if (decoded.some((name) => /^\.\.?$|[/\\]/.test(name))) throw new Error('its path leads elsewhere')
  return [identifier, ...decoded.map(encodeURIComponent)].join('/')
}
