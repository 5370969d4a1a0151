// Imports a contract that somebody else deployed, queries it, and monitors one of its events: the stablecoin of the sandbox,
// to which the faucet transfers.
//
//   npm start -- --chains BASE-SEPOLIA   in one terminal; omit --chains to start all
//   node examples/monitor-contract.mjs   in another
import { randomBytes } from 'node:crypto'
import { chainOf, drip, findSandbox, waitFor } from './sandbox.mjs'

const { initiateSmartContractPlatformClient } = await import('@circle-fin/smart-contract-platform')
const sandbox = await findSandbox()
const { apiKey, entitySecret, url: baseUrl } = sandbox
const client = initiateSmartContractPlatformClient({ apiKey, entitySecret, baseUrl })
const blockchain = 'BASE-SEPOLIA'
const address = chainOf(sandbox, blockchain).tokens.USDC
const payee = `0x${randomBytes(20).toString('hex')}`

// With refreshVerification a contract that is imported already is no error.
const { contract } = (
  await client.importContract({ name: 'USDC', address, blockchain, refreshVerification: true })
).data
console.log(
  `${contract.name} has ${contract.functions.length} functions and ${contract.events.length} events`,
)

// Either spelling of the event names the same monitor; that of a monitored event is returned.
const eventSignature = 'Transfer(address indexed from, address indexed to, uint256 value)'
const { eventMonitor } = (
  await client.createEventMonitor({ blockchain, contractAddress: address, eventSignature })
).data
console.log(`monitors ${eventMonitor.eventSignatureHash}`)
await client.updateEventMonitor({ id: eventMonitor.id, isEnabled: true })

await drip(sandbox, { address: payee, blockchain, usdc: true })
const log = await waitFor('the log', async () => {
  const { eventLogs } = (await client.listEventLogs({ contractAddress: address, blockchain })).data
  return eventLogs.find(({ values }) => values?.some(({ value }) => value === payee))
})
const { value } = log.values.find(({ name }) => name === 'value')
console.log(`${log.eventName} of ${value} base units in block ${log.blockHeight}`)

const asked = { address, blockchain, abiFunctionSignature: 'balanceOf(address)', abiParameters: [payee] }
const [balance] = (await client.queryContract(asked)).data.outputValues
console.log(
  `the payee holds ${balance}, and the monitor lags ${(await lagOf(eventMonitor.id)) ?? 'unknown'} blocks`,
)

async function lagOf(id) {
  const { eventMonitors } = (await client.listEventMonitors({ contractAddress: address })).data
  return eventMonitors.find((monitor) => monitor.id === id).lagBlocks
}
