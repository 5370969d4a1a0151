import { endpoints } from '#api/index'
import { capabilitiesOf } from '#chains/capabilities'
import { baseSepolia } from '#chains/networks/base-sepolia'
import { type Network, networkOf } from '#chains/networks/index'
import { commandKeyOf, commandSecretOf } from '#runtime/config'
import { sandboxApiKey, sandboxEntitySecret } from '#sandbox/credentials'
import { serverOptions } from '../ask-server.ts'
import { type Command, didYouMean, type ParsedArgs, readFlag, textFlag, UsageError } from '../command.ts'
import { serverAddress } from '../server-address.ts'
import { counted, jsonOption, plainText, printRow } from '../table.ts'
import { LeftOut, openCaller } from './caller.ts'
import { checkGroups } from './checks/index.ts'
import { type CheckGroup, type CheckNeed, type ConformanceCheck, type World, worldOf } from './world.ts'

export const conformanceCommand: Command = {
  usage: `bezant conformance URL [--blockchain NETWORK] [--faucet] [--only GROUP]

Asks the server at URL, Bezant or another one of this interface, as its clients do, and reports where its answers are not as the
interface describes them: their status, code, shape and meaning. Without URL it is the server of --url. BEZANT_API_KEY is the key
of an entity on test networks, and BEZANT_ENTITY_SECRET its entity secret, without which checks that sign are left out. Without
both, they are those of a sandbox.

It makes a few wallet sets, wallets, users, payment intents and recipients, and deletes nothing. With --faucet it also asks for test
coins and pays some from one of its wallets to another. Exits with 1 if an answer is not as described.`,
  takesArguments: true,
  options: {
    ...serverOptions,
    blockchain: {
      type: 'string',
      value: 'NETWORK',
      about: 'Test network of the wallets that it makes.',
      default: baseSepolia.blockchain,
    },
    faucet: { type: 'boolean', about: 'Ask the faucet of the server for test coins, and transfer some.' },
    only: {
      type: 'string',
      value: 'GROUP',
      about: `Run one group of checks: ${checkGroups.map(({ name }) => name).join(', ')}.`,
    },
    ...jsonOption,
  },
  run,
}

/** Operations that clients of the interface call, and not the console, the lab or the pages of users. */
const interfaceOperations = endpoints.filter(({ path }) => /^\/(v\d\/|ping$)/.test(path))

type CheckOutcome = { group: string; check: string; state: 'ok' | 'FAULT' | 'left out'; found?: string }

async function run(args: ParsedArgs): Promise<number> {
  const [named] = args.positionals
  const url = serverAddress(
    named === undefined ? args : { ...args, flags: { ...args.flags, url: named } },
    'server',
  )
  const { apiKey, entitySecret } = credentials()
  const network = readFlag(args, 'blockchain', testNetworkOf) ?? baseSepolia
  const caller = openCaller(url, apiKey)
  const world = worldOf({ caller, url, network, entitySecret })
  const lacking = lacked(args, entitySecret)
  const outcomes: CheckOutcome[] = []
  for (const group of groupsOf(args)) {
    if (args.flags['json'] !== true) process.stdout.write(`${group.name}\n`)
    for (const check of group.checks) {
      const outcome = { group: group.name, ...(await outcomeOf(check, world, lacking)) }
      outcomes.push(outcome)
      print(args, outcome)
    }
  }
  return conclude(args, outcomes, caller.asked.size)
}

function credentials(): { apiKey: string; entitySecret: string | undefined } {
  const apiKey = commandKeyOf()
  if (apiKey === undefined) return { apiKey: sandboxApiKey, entitySecret: sandboxEntitySecret }
  if (apiKey.startsWith('LIVE_'))
    throw new UsageError(
      'BEZANT_API_KEY is a key of main networks, and this command makes wallets and intents: take one of test networks',
    )
  const entitySecret = commandSecretOf()
  if (entitySecret !== undefined && !/^[0-9a-f]{64}$/i.test(entitySecret))
    throw new UsageError('BEZANT_ENTITY_SECRET must be 64 hexadecimal digits')
  return { apiKey, entitySecret }
}

function testNetworkOf(text: string, flag: string): Network {
  const network = networkOf(text)
  if (network?.environment === 'TEST' && capabilitiesOf(network.blockchain).typedData) return network
  throw new Error(
    `${flag} must be a test network on which typed data is signed, such as BASE-SEPOLIA, not "${text}"`,
  )
}

function groupsOf(args: ParsedArgs): readonly CheckGroup[] {
  const name = textFlag(args, 'only')
  if (name === undefined) return checkGroups
  const found = checkGroups.filter((group) => group.name === name)
  if (found.length > 0) return found
  const names = checkGroups.map((group) => group.name)
  const hint = didYouMean(name, names) || `: choose from ${names.join(', ')}`
  throw new UsageError(`there is no group "${name}"${hint}\nSee: bezant conformance --help`)
}

/** Remedies for what the checks may need and the run has not been given. */
function lacked(args: ParsedArgs, entitySecret: string | undefined): Map<CheckNeed, string> {
  const lacking = new Map<CheckNeed, string>()
  if (entitySecret === undefined) {
    lacking.set('entity secret', 'set BEZANT_ENTITY_SECRET')
    lacking.set('faucet', 'set BEZANT_ENTITY_SECRET')
  }
  if (args.flags['faucet'] !== true) lacking.set('faucet', 'give --faucet')
  return lacking
}

async function outcomeOf(
  { about, needs, run: verify }: ConformanceCheck,
  world: World,
  lacking: Map<CheckNeed, string>,
): Promise<Omit<CheckOutcome, 'group'>> {
  const remedy = needs && lacking.get(needs)
  if (remedy !== undefined) return { check: about, state: 'left out', found: remedy }
  return verify(world).then(
    () => ({ check: about, state: 'ok' }),
    (error: Error) => ({
      check: about,
      state: error instanceof LeftOut ? 'left out' : 'FAULT',
      found: error.message,
    }),
  )
}

function print(args: ParsedArgs, outcome: CheckOutcome): void {
  const { state, check, found } = outcome
  if (args.flags['json'] === true) {
    printRow(args, outcome)
    return
  }
  // The reason may quote the server.
  const reason = found === undefined ? '' : `: ${plainText(found)}`
  process.stdout.write(`  ${state.padEnd(8)}  ${check}${reason}\n`)
}

function conclude(args: ParsedArgs, outcomes: readonly CheckOutcome[], operations: number): number {
  const inState = (state: CheckOutcome['state']) =>
    outcomes.filter((outcome) => outcome.state === state).length
  const faults = inState('FAULT')
  if (args.flags['json'] !== true)
    process.stdout.write(
      `\n${counted(outcomes.length, 'check')}: ${inState('ok')} hold, ${faults} do not, ${inState('left out')} left out; ` +
        `${operations} of ${interfaceOperations.length} operations asked\n`,
    )
  return faults === 0 ? 0 : 1
}
