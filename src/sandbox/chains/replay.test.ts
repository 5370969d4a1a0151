import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { networkOf } from '#chains/networks/index'
import { allBlocks, send, startBase, temporaryDirectory } from '#testing/local-chains/kit'
import { testLog } from '#testing/platform/log'
import { until } from '#testing/platform/until'
import { readJournal } from './journal.ts'
import { startNode } from './node.ts'
import { replayJournal } from './replay.ts'
import { call, postToNode } from './rpc.ts'
import { createSettings } from './settings.ts'
import { stateFilesIn } from './state-file.ts'

/** A front of a node where a second ends after each request that sets its clock, as on a machine that is held up. */
async function openHeldUpFront(nodeUrl: string): Promise<{ url: string; clocksSet(): number }> {
  let clocksSet = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const answer = await postToNode(nodeUrl, body)
    if (body.includes('"evm_setTime"')) {
      clocksSet++
      await delay(1_100)
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clocksSet: () => clocksSet }
}

test('the blocks after a state come back the same when a second ends while the clock is set back', async () => {
  const { chain, local } = await startBase({ dataDir: temporaryDirectory() })
  await send(chain.rpcUrl, 0, 0)
  await until(async () => Number(await call(chain.rpcUrl, 'eth_blockNumber')) === 1)
  await local.persist()
  await send(chain.rpcUrl, 0, 1)
  await until(async () => Number(await call(chain.rpcUrl, 'eth_blockNumber')) === 2)
  const files = stateFilesIn(temporaryDirectory())
  await chain.copyTo(files.directory)
  const blocks = await allBlocks(chain.rpcUrl)
  // The node starts after the time of the block that it mines again.
  await delay(2_000)
  const node = await startNode({
    network: networkOf('BASE-SEPOLIA')!,
    gasLimit: 30_000_000n,
    cacheDir: files.directory,
    source: { state: files.state(1) },
    onSpawn: () => undefined,
  })
  onTestFinished(() => node.end(0))
  const front = await openHeldUpFront(node.url)
  await replayJournal(front.url, readJournal(files.journal(1)), createSettings(), true, testLog())
  expect(await allBlocks(node.url)).toEqual(blocks)
  // Once for the block, and once at the end of the replay.
  expect(front.clocksSet()).toBe(2)
})
