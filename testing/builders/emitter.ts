import { randomUUID } from 'node:crypto'
import { type Hex, keccak256, toBytes } from 'viem'
import { quantity } from '#testing/platform/json-rpc'
import { placeContract, type World } from './world.ts'

export const movedSignature = 'Moved(uint256)'
export const movedTopic = keccak256(toBytes(movedSignature))

const byte = (value: number, bytes = 1) => value.toString(16).padStart(2 * bytes, '0')

/**
 * Code that emits `Moved` as often as the first word of the call says, with the number of logs that follow as its value.
 * `dataBytes` is the size of the data of each log; the event has 32 bytes.
 */
export function emitterCode(dataBytes = 32): string {
  const head = '0x6000355b8015'
  const loop = `80600052${`7f${movedTopic.slice(2)}`}62${byte(dataBytes, 3)}6000a160019003600356`
  const end = (head.length - 2 + 6 + loop.length) / 2
  return `${head}60${byte(end)}57${loop}5b00`
}

/** Imports a contract that emits `Moved`, with this ABI or without one. */
export async function makeEmitter(
  world: World,
  dataBytes?: number,
  abi?: readonly object[],
): Promise<string> {
  const address = await placeContract(world, emitterCode(dataBytes))
  await world.call('POST', '/v1/w3s/contracts/import', {
    idempotencyKey: randomUUID(),
    name: 'Emitter',
    address,
    blockchain: world.harness.chain().blockchain,
    ...(abi && { abiJson: JSON.stringify(abi) }),
  })
  return address
}

/** Makes an emitter emit this many logs in one transaction, which a block holds when this resolves. */
export const emit = ({ harness }: World, to: string, count = 1): Promise<Hex> =>
  harness.chain().rpc('eth_sendTransaction', [
    {
      from: harness.chain().outsider,
      to,
      data: `0x${count.toString(16).padStart(64, '0')}`,
      gas: quantity(25_000_000),
    },
  ])

export const monitorBody = (world: World, contractAddress: string, fields: object = {}) => ({
  idempotencyKey: randomUUID(),
  blockchain: world.harness.chain().blockchain,
  contractAddress,
  eventSignature: movedSignature,
  ...fields,
})

export async function makeMonitor(
  world: World,
  contractAddress: string,
  fields: object = {},
): Promise<{ id: string }> {
  const body = monitorBody(world, contractAddress, fields)
  return (await world.call('POST', '/v1/w3s/contracts/monitors', body)).eventMonitor
}
