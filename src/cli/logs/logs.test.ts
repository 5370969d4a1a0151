import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeLoggedRequest } from '#testing/builders/logged-requests'
import { type World, worldOf } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'

let harness: Harness
let world: World
beforeAll(async () => {
  harness = await openHarness({ engines: false, config: { requestLog: 'bodies' } })
  world = worldOf(harness)
})
afterAll(() => harness?.close())

const bezant = (...args: string[]) => runCommand({ command: 'logs', args, env: { BEZANT_URL: harness.url } })

describe('bezant logs', () => {
  it('lists requests by filters, and shows one', async () => {
    const { id, requestId } = await makeLoggedRequest(world)
    await world.tenant.http('GET', '/v1/w3s/wallets/none')
    const listed = await bezant('list', '--route', '/v1/w3s/walletSets', '--status', '2xx', '--method', 'get')
    expect([listed.code, listed.stderr]).toEqual([0, ''])
    const rows = listed.stdout.trimEnd().split('\n')
    expect(rows.map((line) => JSON.parse(line).id)).toContain(id)
    const shown = JSON.parse((await bezant('show', requestId)).stdout)
    expect(shown).toMatchObject({ id, path: '/v1/w3s/walletSets', response: { headers: {} } })
  })

  it('tail prints the newest and follows new ones, each once and in their order, until a signal', async () => {
    const before = await makeLoggedRequest(world)
    const running = bezant('tail', '--limit', '1')
    const printed = () =>
      vi.mocked(process.stdout.write).mock.calls.map(([line]) => JSON.parse(String(line)).id)
    await until(async () => printed().length > 0, 'the newest is printed')
    expect(printed()).toEqual([before.id])
    const made = [await makeLoggedRequest(world), await makeLoggedRequest(world)]
    await until(async () => printed().length > 2, 'new ones are printed')
    expect(printed()).toEqual([before.id, ...made.map(({ id }) => id)])
    process.emit('SIGINT')
    expect((await running).code).toBe(0)
  })

  it.each([
    [2, [], 'name an action: tail, list, show'],
    [2, ['tal'], 'unknown action "tal": did you mean tail?'],
    [2, ['show'], 'show needs the id of a request: bezant logs list shows them'],
    [2, ['list', '--stats', '404'], 'unknown option --stats: did you mean --status?'],
    [2, ['list', '--url', 'x'], 'the address of the server must be like http://127.0.0.1:4020, not "x"'],
    [
      1,
      ['show', '00000000-0000-4000-8000-000000000000'],
      'Not found: the request log has no request with this id. id matches no request of this entity.',
    ],
  ])('exits with %i for %j, and says what to do', async (code, args, problem) => {
    const done = await bezant(...args)
    expect([done.code, done.stderr.split('\n')[0], done.stdout]).toEqual([code, `bezant: ${problem}`, ''])
  })

  it('says what to do where the server refuses the key, is another program, or is not there', async () => {
    const env = { BEZANT_URL: harness.url, BEZANT_API_KEY: 'TEST_API_KEY:a:b' }
    expect((await runCommand({ command: 'logs', args: ['tail'], env })).stderr).toBe(
      `bezant: the server at ${harness.url} refuses the API key: set BEZANT_API_KEY to one of bezant keys create --scope operator:read\n`,
    )
    const server = createServer((_, response) => response.writeHead(200).end('<html>')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await bezant('list', '--url', url)).stderr).toContain(`at ${url} with 200 is not Bezant`)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    const none = await bezant('tail', '--url', url)
    expect([none.code, none.stderr]).toEqual([
      1,
      `bezant: no server answers at ${url} (ECONNREFUSED): start one with bezant sandbox or bezant serve, or give its address with --url\n`,
    ])
  })

  it('prints a table on a terminal', async () => {
    await makeLoggedRequest(world)
    const { isTTY } = process.stdout
    process.stdout.isTTY = true
    try {
      expect((await bezant('list', '--limit', '1')).stdout).toMatch(
        /^CREATE DATE +METHOD +STATUS +DURATION MS +PATH +CODE +ID\n\S+Z +GET +200 +\d+ +\/v1\/w3s\/walletSets +- +\S+\n$/,
      )
    } finally {
      process.stdout.isTTY = isTTY
    }
  })
})
