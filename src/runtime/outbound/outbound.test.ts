import {
  createServer as createHttpServer,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { type AddressInfo, createServer, isIPv6, type Server as NetServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '#testing/platform/until'
import { reachOf } from './address.ts'
import { idleMax, idleOfHostMax } from './agents.ts'
import { createCaller, KeptConnectionEnded } from './call.ts'
import { parseTarget, TargetRefused, type Targets } from './target.ts'

/* No URL of a customer makes this server connect to itself or to the network around it. */
let canary: NetServer
let port: number
let connections = 0

beforeAll(async () => {
  canary = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  // On every address of this machine, of both families where there are two.
  await new Promise<void>((resolve, reject) => {
    canary.once('error', reject)
    canary.listen(0, '::', resolve)
  }).catch(() => new Promise<void>((resolve) => canary.listen(0, '0.0.0.0', resolve)))
  port = (canary.address() as AddressInfo).port
})
afterAll(() => new Promise((resolve) => canary.close(resolve)))

const ownAddresses = Object.values(networkInterfaces()).flatMap((each) =>
  (each ?? []).map(({ address }) => address),
)

/** One address of each range that is not public, its ends included. */
const forbidden = [
  ...ownAddresses.filter((address) => reachOf(address) !== 'public'),
  ...['0.0.0.0', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0', '100.127.255.255'],
  ...['127.0.0.1', '127.255.255.255', '169.254.0.1', '169.254.169.254', '172.16.0.0', '172.31.255.255'],
  ...[
    '192.0.0.1',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.0.0',
    '192.168.255.255',
    '198.18.0.1',
    '198.19.255.255',
  ],
  ...['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a00:1', '::ffff:8.8.8.8', '::127.0.0.1'],
  ...['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '100::1', '2001::1', '2001:0:7f00:1::'],
  ...['2001:db8::1', '2002:7f00:1::', '2002:a00:1::1', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254'],
  ...['fe80::1', 'febf::1', 'fec0::1', 'ff02::1', '4000::1'],
]

/** Addresses of this machine in notations that have fooled parsers. */
const disguises = [
  ...[
    '2130706433',
    '0x7f000001',
    '0X7F000001',
    '017700000001',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f.1',
    '127.1',
  ],
  ...[
    '127.0.1',
    '127.000.000.001',
    '127.0.0.1.',
    '127。0。0。1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
  ],
  ...[
    '0',
    '0x0',
    '00000000',
    'localhost',
    'LocalHost',
    'localhost.',
    'x.localhost',
    'a.b.localhost.',
    'ⓛocalhost',
  ],
  ...['[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0:1]', '[0:0:0:0:0:ffff:127.0.0.1]', '[::FFFF:127.0.0.1]'],
  ...[
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '3232235777',
    '0300.0250.1.1',
    '10.1',
  ],
]

const bracketed = (address: string) => (isIPv6(address) ? `[${address}]` : address)

/** Resolves a name to the address that it begins with, dashed; "and" adds a public one. */
const namedAfter = async (name: string): Promise<string[]> => {
  const [index, ...more] = name.replace(/\.test$/, '').split('.')
  return [
    forbidden[Number(index?.replace('n', ''))] ?? '127.0.0.1',
    ...(more[0] === 'and' ? ['8.8.8.8'] : []),
  ]
}

describe('property 53', () => {
  it('property 53: connects to no address of this machine or its network, in any notation or by name', async () => {
    const hosts = [
      ...forbidden.map(bracketed),
      ...disguises,
      ...forbidden.flatMap((_, index) => [`n${index}.test`, `n${index}.and.test`]),
    ]
    const urls = hosts.flatMap((host) => [
      `https://${host}:${port}/`,
      `http://${host}:${port}/`,
      `https://${host}/x?y=z`,
    ])
    expect(urls.length).toBeGreaterThan(500)
    const call = createCaller('public', namedAfter)
    const refusals = await Promise.all(
      urls.map((url) =>
        call({ method: 'POST', url, body: '{}', timeoutMs: 30_000 }).then(
          (answer) => ({ url, answer }),
          (error) => (error instanceof TargetRefused ? undefined : { url, error }),
        ),
      ),
    )
    expect(refusals.filter(Boolean)).toEqual([])
    expect(connections).toBe(0)
  })

  it.each([
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:text/html,x',
    'javascript:alert(1)',
    'ws://example.com/',
    'https:/example.com',
    'https:\\\\example.com',
    'https:///example.com',
    ' https://example.com',
    'https://example.com/a b',
    'https://example.com/\n',
    'https://',
    'https://[::1',
    'https://[fe80::1%25eth0]/',
    'https://user@example.com/',
    'https://user:password@example.com/',
    'https://:@example.com:99999/',
    'https://example.com:22/',
    'https://example.com:25/',
    'https://example.com:5432/',
    'https://example.com:6379/',
    'https://example.com:1/',
    `https://example.com/${'x'.repeat(8_192)}`,
    '//example.com/',
    'example.com',
    '',
  ])('property 53: does not even look up %j', async (url) => {
    let lookedUp = 0
    const call = createCaller('private', async () => {
      lookedUp += 1
      return ['8.8.8.8']
    })
    await expect(call({ method: 'HEAD', url, timeoutMs: 1_000 })).rejects.toBeInstanceOf(TargetRefused)
    expect(lookedUp).toBe(0)
  })

  it('property 53: connects to the checked addresses although the name resolves to others a moment later', async () => {
    const [real, evil] = await Promise.all([listening('127.0.0.1'), listening('127.0.0.2', '127.0.0.1')])
    const answers = [['127.0.0.1'], ['127.0.0.2', '10.0.0.1'], ['169.254.169.254']]
    let asked = 0
    const call = createCaller('loopback', async () => answers[asked++] ?? [])
    const url = `http://rebinding.test:${real.port}/`
    expect(await call({ method: 'POST', url, body: 'x', timeoutMs: 30_000 })).toMatchObject({
      status: 200,
      text: 'here',
    })
    expect(asked).toBe(1)
    for (let time = 0; time < 3; time++)
      await expect(call({ method: 'POST', url, body: 'x', timeoutMs: 30_000 })).rejects.toBeInstanceOf(
        TargetRefused,
      )
    expect([real.requests(), evil.requests(), asked]).toEqual([1, 0, 4])
    await Promise.all([real.close(), evil.close()])
  })

  it('property 53: follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const server = await listening('127.0.0.1', undefined, (response) =>
        response.writeHead(status, { location: `http://127.0.0.1:${port}/` }).end(),
      )
      const call = createCaller('loopback')
      const answer = await call({
        method: 'POST',
        url: `http://127.0.0.1:${server.port}/`,
        timeoutMs: 30_000,
      })
      expect(answer.status).toBe(status)
      await server.close()
    }
    expect(connections).toBe(0)
  })

  it.each([
    ['public', 'https', '8.8.8.8', true],
    ['public', 'https', '2606:4700::1111', true],
    ['public', 'http', '8.8.8.8', false],
    ['public', 'https', '127.0.0.1', false],
    ['loopback', 'https', '127.0.0.1', true],
    ['loopback', 'http', '::1', true],
    ['loopback', 'http', '8.8.8.8', false],
    ['loopback', 'https', '10.0.0.1', false],
    ['private', 'http', '10.0.0.1', true],
    ['private', 'https', 'fd00::1', true],
    ['private', 'http', '169.254.169.254', false],
    ['private', 'https', 'fe80::1', false],
    ['private', 'https', '0.0.0.0', false],
    ['private', 'https', '::ffff:8.8.8.8', false],
    ['private', 'https', '::ffff:169.254.169.254', false],
    ['private', 'https', '64:ff9b::a00:1', false],
  ] as [Targets, string, string, boolean][])(
    'takes as %s: %s to %s, %s',
    async (targets, scheme, address, isGood) => {
      const { findTarget } = await import('./target.ts')
      const found = findTarget(`${scheme}://name.test/`, targets, async () => [address])
      if (isGood) expect((await found).addresses).toEqual([address])
      else await expect(found).rejects.toBeInstanceOf(TargetRefused)
    },
  )
})

describe('a call', () => {
  const answering = async (answer: (socket: Socket) => void, timeoutMs = 30_000) => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('data', () => answer(socket))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const result = await createCaller('loopback')({ method: 'POST', url, body: 'x', timeoutMs }).catch(
      (error: Error) => error,
    )
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
    return result
  }
  const head = 'HTTP/1.1 200 OK\r\n'

  it('reads only the beginning of an endless body', async () => {
    let sent = 0
    const answer = await answering((socket) => {
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`)
      const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
      const pour = () => {
        while (!socket.destroyed && sent < 200_000_000 && socket.write(chunk)) sent += chunk.length
        if (!socket.destroyed) socket.once('drain', pour)
      }
      pour()
    })
    expect(answer).toMatchObject({ status: 200, text: 'x'.repeat(300) })
    expect(sent).toBeLessThan(100_000_000)
  })

  it('times out on a slow body, and returns the status', async () => {
    const answer = await answering((socket) => {
      socket.write(`${head}Content-Length: 1000\r\n\r\n`)
      const dripping = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(dripping))
    }, 3_000)
    expect(answer).toMatchObject({ status: 200 })
  })

  it.each([
    ['nothing', () => undefined],
    [
      'a drip of headers',
      (socket: Socket) => {
        socket.write(head)
        drip('X')(socket)
      },
    ],
  ] as [string, (socket: Socket) => void][])('gives up on %s after its time', async (_, answer) => {
    expect(await answering(answer, 300)).toMatchObject({ message: 'no answer within 0.3 s' })
  })

  it.each([
    ['no HTTP', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
    ['half of a header', (socket: Socket) => socket.end('HTTP/1.1 200 O')],
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
    ['headers without end', (socket: Socket) => socket.write(`${head}X: ${'y'.repeat(1_000_000)}`)],
  ])('fails on %s', async (_, answer) => {
    expect(await answering(answer as (socket: Socket) => void)).toBeInstanceOf(Error)
  })

  it('checks the certificate of https', async () => {
    const server = await listening('127.0.0.1')
    const call = createCaller('loopback')
    const url = `https://127.0.0.1:${server.port}/`
    await expect(call({ method: 'POST', url, timeoutMs: 30_000 })).rejects.toThrow()
    expect(server.requests()).toBe(0)
    await server.close()
  })

  it('keeps host, path and query unchanged', () => {
    expect(parseTarget('https://merchant.example/a?b=c#d').href).toBe('https://merchant.example/a?b=c#d')
  })
})

function drip(text: string) {
  return (socket: Socket) => {
    const dripping = setInterval(() => socket.write(text), 20)
    socket.on('close', () => clearInterval(dripping))
  }
}

describe('a kept connection', () => {
  /** A web server that every name leads to. */
  async function serving(answer: RequestListener = (_, response) => void response.end('here')) {
    const server = createHttpServer(answer)
    const open = new Set<Socket>()
    let opened = 0
    server.on('connection', (socket) => {
      opened += 1
      open.add(socket.on('close', () => open.delete(socket)))
    })
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
    const { port } = server.address() as AddressInfo
    const to = (name = 'receiver', keepAlive = true) => ({
      method: 'POST' as const,
      url: `http://${name}.test:${port}/`,
      body: '{}',
      timeoutMs: 30_000,
      keepAlive,
    })
    const close = () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }
    return { to, open, opened: () => opened, close }
  }
  const here = { status: 200, text: 'here' }

  it('serves further requests of those calls that ask for it', async () => {
    const server = await serving()
    const call = createCaller('loopback', async () => ['127.0.0.1'])
    for (let time = 0; time < 3; time++) expect(await call(server.to())).toMatchObject(here)
    expect(server.opened()).toBe(1)
    for (let time = 0; time < 3; time++) expect(await call(server.to('receiver', false))).toMatchObject(here)
    expect(server.opened()).toBe(4)
    await server.close()
  })

  it('is not used again when its server has closed it, and ends without a verdict when it does so later', async () => {
    let ends = 'between'
    const server = await serving((request, response) => {
      if (ends === 'instead') return void request.socket.destroy()
      if (ends === 'between') response.once('finish', () => request.socket.end())
      response.end('here')
    })
    const call = createCaller('loopback', async () => ['127.0.0.1'])
    for (let time = 0; time < 20; time++) expect(await call(server.to())).toMatchObject(here)
    expect(server.opened()).toBe(20)
    ends = 'instead'
    const onNew = await call(server.to()).catch((error) => error)
    expect(onNew).toBeInstanceOf(Error)
    expect(onNew).not.toBeInstanceOf(KeptConnectionEnded)
    ends = 'never'
    expect(await call(server.to())).toMatchObject(here)
    ends = 'instead'
    await expect(call(server.to())).rejects.toBeInstanceOf(KeptConnectionEnded)
    await server.close()
  })

  it('property 53: serves its name in any order of the same addresses, and nothing once they change', async () => {
    const server = await serving()
    let addresses = ['127.0.0.1', '127.0.0.2']
    const call = createCaller('loopback', async () => addresses)
    const openedAt = async (...next: string[]) => {
      addresses = next
      await call(server.to())
      return server.opened()
    }
    expect(await openedAt('127.0.0.1', '127.0.0.2')).toBe(1)
    expect(await openedAt('127.0.0.2', '127.0.0.1')).toBe(1)
    expect(await openedAt('127.0.0.2')).toBe(2)
    expect(await openedAt('127.0.0.1')).toBe(3)
    for (const forbidden of ['10.0.0.1', '169.254.169.254']) {
      addresses = ['127.0.0.1', forbidden]
      await expect(call(server.to())).rejects.toBeInstanceOf(TargetRefused)
    }
    expect(server.opened()).toBe(3)
    await server.close()
  })

  it('is one of a bounded number, of one host and of all, and is closed soon', async () => {
    const answers: (() => void)[] = []
    const server = await serving((_, response) => void answers.push(() => response.end('here')))
    const call = createCaller('loopback', async () => ['127.0.0.1'])
    const callAll = async (names: readonly string[]) => {
      const calls = names.map((name) => call(server.to(name)))
      await until(() => answers.length === names.length, 'all requests arrived')
      for (const answer of answers.splice(0)) answer()
      await Promise.all(calls)
    }
    for (const { names, max } of [
      { names: Array<string>(idleOfHostMax * 3).fill('receiver'), max: idleOfHostMax },
      { names: Array.from({ length: idleMax + 40 }, (_, index) => `receiver${index}`), max: idleMax },
    ]) {
      await callAll(names)
      const before = server.opened()
      await callAll(names)
      expect(server.opened() - before).toBeGreaterThanOrEqual(names.length - max)
    }
    await until(() => server.open.size === 0, 'all are closed')
    await server.close()
  })
})

/** A web server on an address, or on the other one if the system lacks the first. */
async function listening(
  host: string,
  orElse = host,
  answer: (response: ServerResponse) => unknown = (response) => response.end('here'),
) {
  let requests = 0
  const server: Server = createHttpServer((_, response) => {
    requests += 1
    answer(response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  }).catch(() => new Promise<void>((resolve) => server.listen(0, orElse, resolve)))
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}
