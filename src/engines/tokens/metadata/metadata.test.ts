import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnyToken, deployCollection } from '#testing/builders/any-tokens'
import { tokenActions } from '#testing/builders/token-actions'
import { makeWallet, type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'

const content = 'Q'.repeat(46)
/** The answers of the gateway of IPFS, by name. */
const served: Record<string, (response: ServerResponse) => void> = {
  'a%20good.json': (response) => response.end('{ "name": "A picture", "image": "ipfs://elsewhere\\u0000" }'),
  'page.html': (response) => response.end('<html></html>'),
  'list.json': (response) => response.end('[1]'),
  'huge.json': (response) => response.end(`{"a":"${'x'.repeat(70_000)}"}`),
  'cut.json': (response) => response.write('{"a":', () => response.destroy()),
  'away.json': (response) => response.writeHead(302, { location: `${canaryUrl}/stolen` }).end(),
  'gone.json': (response) => response.writeHead(404).end(),
}

let harness: Harness
let world: World
let pictures: AnyToken
let gateway: Server
let canary: Server
let canaryUrl: string
const asked: string[] = []
const reached: string[] = []

const listen = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const closed = (server: Server) => new Promise((resolve) => server.close(resolve))

beforeAll(async () => {
  canary = createServer((request, response) => {
    reached.push(request.url!)
    response.end('{"name":"secret"}')
  })
  canary.on('connection', () => reached.push('a connection'))
  canaryUrl = await listen(canary)
  gateway = createServer((request, response) => {
    asked.push(request.url!)
    const name = request.url!.split('/').at(-1)!
    served[name]?.(response)
  })
  harness = await openHarness({ config: { ipfsGateway: await listen(gateway) } })
  world = worldOf(harness)
  pictures = await deployCollection(harness.chain(), 'ERC721')
})
afterAll(async () => {
  await harness?.close()
  await Promise.all([closed(gateway), closed(canary)])
})

const allow = (nftMetadata: boolean) => Object.assign(harness.ctx.config, { nftMetadata })

/** The metadata of a new wallet's NFTs with these addresses, by their order, as `ready` accepts it. */
async function shown(uris: readonly string[], ready: (metadata: readonly string[]) => boolean = () => true) {
  const { id, address } = await makeWallet(world)
  for (const uri of uris) await pictures.call('mintTo', [address, uri])
  const { list } = tokenActions(world)
  let metadata: string[] = []
  await until(async () => {
    const nfts = await list('nfts', id, { pageSize: '50' })
    metadata = nfts
      .toSorted((one, other) => Number(one.nftTokenId) - Number(other.nftTokenId))
      .map((nft) => nft.metadata)
    return nfts.length === uris.length && ready(metadata)
  }, `the metadata is shown`)
  return metadata
}

it('is told and not fetched without the setting', async () => {
  const uri = `ipfs://${content}/good.json`
  expect(await shown([uri])).toEqual([uri])
  expect(asked).toEqual([])
})

it('is fetched with the setting: from the gateway, and from the address itself where that holds it', async () => {
  allow(true)
  const inside = Buffer.from('{"name":"Inside"}').toString('base64')
  const uris = [
    `ipfs://${content}/a%20good.json`,
    `data:application/json;base64,${inside}`,
    'data:application/json,%7B%22name%22%3A%22Plain%22%7D',
  ]
  const isJson = (all: readonly string[]) => all.every((text) => text.startsWith('{'))
  expect((await shown(uris, isJson)).map((text) => JSON.parse(text))).toEqual([
    { name: 'A picture', image: 'ipfs://elsewhere\0' },
    { name: 'Inside' },
    { name: 'Plain' },
  ])
  expect(asked).toEqual([`/ipfs/${content}/a%20good.json`])
})

it('property 53: hostile addresses and answers leave the address, and reach nothing of this network', async () => {
  allow(true)
  const { port } = new URL(canaryUrl)
  const hostile = [
    ...Object.keys(served)
      .filter((name) => name !== 'a%20good.json')
      .map((name) => `ipfs://${content}/${name}`),
    ...[
      `${canaryUrl}/a`,
      `https://127.0.0.1:${port}/b`,
      `https://localhost:${port}/c`,
      `https://[::1]:${port}/d`,
    ],
    ...[
      `ipfs://../${content}`,
      `ipfs://${content}/../../admin`,
      `ipfs://${content}/..%2f..%2fadmin`,
      'file:///etc/passwd',
      'ftp://example.com/x',
      'data:,',
    ],
  ]
  asked.length = 0
  expect(await shown(hostile)).toEqual(hostile)
  const failed = async () => {
    const { count } = await harness.database.one<{ count: number }>({
      text: ['select count(*) as count from item_metadata where failure_count = 1'],
      values: [],
    })
    return count
  }
  await until(async () => (await failed()) === hostile.length, 'all have failed')
  expect(await shown(hostile)).toEqual(hostile)
  expect(reached).toEqual([])
  expect(asked.filter((path) => !path.startsWith(`/ipfs/${content}/`))).toEqual([])
})
