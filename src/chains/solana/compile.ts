/** Writes messages of the legacy version, which every program and node accepts. */
import { decodeBase58 } from '../addresses/base-encodings.ts'

/** An account of an instruction. */
type Meta = { address: string; isSigner?: boolean; isWritable?: boolean }

/** An instruction to compile into a message. */
export type WrittenInstruction = { program: string; accounts: readonly Meta[]; data: Buffer }

/** A length of one to three bytes, seven bits each. */
function lengthBytes(length: number): Buffer {
  const bytes: number[] = []
  let left = length
  do {
    bytes.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0))
    left >>= 7
  } while (left > 0)
  return Buffer.from(bytes)
}

/** Compiles a message that the payer of the fee signs first. The payer and the signers may be one account or several. */
export function compileMessage(
  payer: string,
  instructions: readonly WrittenInstruction[],
  blockhash: string,
): Buffer {
  const found = new Map<string, { isSigner: boolean; isWritable: boolean }>()
  const add = ({ address, isSigner = false, isWritable = false }: Meta) => {
    const known = found.get(address)
    found.set(address, {
      isSigner: isSigner || known?.isSigner === true,
      isWritable: isWritable || known?.isWritable === true,
    })
  }
  add({ address: payer, isSigner: true, isWritable: true })
  for (const { accounts } of instructions) accounts.forEach(add)
  for (const { program } of instructions) add({ address: program })
  const group = (isSigner: boolean, isWritable: boolean) =>
    [...found].filter(([, each]) => each.isSigner === isSigner && each.isWritable === isWritable)
  const groups = [group(true, true), group(true, false), group(false, true), group(false, false)] as const
  const keys = groups.flat().map(([address]) => address)
  const placeOf = (address: string) => keys.indexOf(address)
  return Buffer.concat([
    Buffer.of(groups[0].length + groups[1].length, groups[1].length, groups[3].length),
    lengthBytes(keys.length),
    ...keys.map((key) => decodeBase58(key)!),
    decodeBase58(blockhash)!,
    lengthBytes(instructions.length),
    ...instructions.flatMap(({ program, accounts, data }) => [
      Buffer.of(placeOf(program)),
      lengthBytes(accounts.length),
      Buffer.from(accounts.map(({ address }) => placeOf(address))),
      lengthBytes(data.length),
      data,
    ]),
  ])
}
