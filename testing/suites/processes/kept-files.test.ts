import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { devAccounts } from '#sandbox/constants'
import { rpc } from '#testing/platform/json-rpc'
import { until } from '#testing/platform/until'
import { runCommand } from '#testing/processes/command'
import { spawnProgram, startProgram } from '#testing/processes/program'
import { initializedDirectory } from '#testing/processes/programs'
import { drawnTests } from '#testing/runner/drawn'

const chains = ['--chains', 'BASE-SEPOLIA']
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

async function used(): Promise<string> {
  const dataDir = await initializedDirectory()
  undo.push(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5 }))
  return dataDir
}

async function started(dataDir: string, args: readonly string[] = []) {
  const program = await startProgram({ dataDir, args: [...chains, ...args] })
  undo.push(() => program.killAll())
  return program
}

const drawnIt = drawnTests(2, 4)

describe('property 69: beside a database', () => {
  drawnIt(
    'no new root key is made: a start without the old one names the missing file and changes nothing',
    async () => {
      const dataDir = await used()
      const away = join(dataDir, 'elsewhere')
      await rename(join(dataDir, 'root.key'), away)
      const before = (await readdir(dataDir)).sort()
      for (const more of [[], ['--ephemeral']]) {
        const { code, stderr } = await runCommand({ command: 'sandbox', dataDir, args: [...chains, ...more] })
        expect(code).toBe(1)
        expect(stderr).toContain(`${join(dataDir, 'root.key')} is missing`)
        expect(stderr).toMatch(/restore the file from a backup, or set BEZANT_ROOT_KEY/)
        expect((await readdir(dataDir)).sort()).toEqual(before)
      }
      await rename(away, join(dataDir, 'root.key'))
      await started(dataDir)
    },
  )

  drawnIt('an ephemeral start leaves the root key of kept data alone', async () => {
    const dataDir = await used()
    const key = await readFile(join(dataDir, 'root.key'), 'utf8')
    const program = await started(dataDir, ['--ephemeral'])
    program.signal('SIGTERM', 'process')
    await program.exited
    expect(await readFile(join(dataDir, 'root.key'), 'utf8')).toBe(key)
  })

  drawnIt(
    'a damaged journal and a damaged seen.json are named with path and remedy, in the banner too',
    async () => {
      const dataDir = await used()
      const [id] = await readdir(join(dataDir, 'journals'))
      const path = join(dataDir, 'journals', id!, 'seen.json')
      await writeFile(path, '{"installation": "')
      // Without --json, as for a person.
      const program = await spawnProgram({ dataDir, args: chains, command: 'sandbox', banner: true })
      undo.push(async () => {
        program.child.kill('SIGTERM')
        await program.exited
      })
      await until(async () => /stops everything[\s\S]*\n$/.test(program.stdout()), 'the banner is printed')
      const isLogged = () => program.stderr().includes('"alarm":"journal-damaged"')
      await until(isLogged, 'the alarm is logged')
      expect(program.stdout()).toContain(`journal-damaged: the journal cannot be kept`)
      expect(program.stdout()).toContain(`${path} is damaged: restore it from a copy`)
    },
  )

  drawnIt('a missing chain directory raises one alarm, before a start and while the chain runs', async () => {
    const dataDir = await used()
    const directory = join(dataDir, 'chains', 'BASE-SEPOLIA')
    await rm(directory, { recursive: true })
    const program = await started(dataDir, ['--log-level', 'debug'])
    const alarms = () =>
      program
        .stderr()
        .split('\n')
        // The last one may not have arrived as a whole.
        .slice(0, -1)
        .filter((line) => /"level":[45]0/.test(line) && /"alarm"|not written/.test(line))
        .map((line) => (JSON.parse(line) as { alarm?: string }).alarm)
    expect(alarms()).toEqual(['chain-begun-anew'])
    expect(program.stderr()).toContain(`${directory} is missing`)
    await rm(directory, { recursive: true })
    const { rpcUrl } = program.answer.chains[0]!
    const { address: from } = devAccounts[0]!
    await rpc(rpcUrl, 'eth_sendTransaction', [{ from, to: from, value: '0x1' }])
    await until(async () => alarms().includes('chain-unkept'), 'the alarm is raised')
    await until(async () => program.stderr().includes('still cannot be written'), 'another try has failed')
    expect(alarms()).toEqual(['chain-begun-anew', 'chain-unkept'])
  })
})

describe('property 69: a start that fails', () => {
  it('creates nothing when the port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    undo.push(async () => server.close())
    const parent = await mkdtemp(join(tmpdir(), 'bezant-port-'))
    undo.push(() => rm(parent, { recursive: true, force: true }))
    const dataDir = join(parent, 'data')
    const port = String((server.address() as AddressInfo).port)
    const { code, stderr } = await runCommand({
      command: 'sandbox',
      dataDir,
      args: [...chains, '--port', port],
    })
    expect([code, existsSync(dataDir)]).toEqual([1, false])
    expect(stderr).toMatch(/port \d+ is in use: stop the process that uses it, or choose another port/)
    expect(stderr).not.toContain('Starting')
  })

  it('creates nothing when its plan of faults names what it does not run', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'bezant-plan-'))
    undo.push(() => rm(parent, { recursive: true, force: true }))
    const [dataDir, plan] = [join(parent, 'data'), join(parent, 'faults.yaml')]
    const rule = '{ name: a, on: node, match: { blockchain: ARB-SEPOLIA }, do: { delay: 1s } }'
    await writeFile(plan, `apiVersion: bezant/v1\nrules:\n- ${rule}\n`)
    const { code, stderr } = await runCommand({
      command: 'sandbox',
      dataDir,
      args: [...chains, '--port', '0', '--faults', plan],
    })
    expect([code, existsSync(dataDir)]).toEqual([2, false])
    expect(stderr).toContain('line 3: rules[0].match.blockchain is no chain of this sandbox, which runs')
  })

  it.skipIf(!existsSync('/proc/self'))('ends by itself where no directory can be created', async () => {
    const { code, stderr } = await runCommand({
      command: 'sandbox',
      dataDir: '/proc/bezant/data',
      args: chains,
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(/\/proc\/bezant.*--data-dir/)
  })
})
