/** Functions of the spenders of Permit2, which move what others signed. */
import type { Address } from '../../addresses/types.ts'
import type { KnownEffect, KnownFunctions } from './known-effect.ts'

const structs = [
  'struct Approval { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'struct Permissions { address token; uint256 amount; }',
  'struct Permit { Permissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Payee { address to; uint256 validAfter; }',
  'struct PayeeOfSender { address to; address sender; uint256 validAfter; }',
]
const lower = (address: Address) => address.toLowerCase() as Address

type Permit = { permitted: { token: Address; amount: bigint } }
type Payee = { to: Address }

const pays = ({ permitted: { token } }: Permit, { to }: Payee, amountAtomic: bigint): KnownEffect[] => [
  { does: 'transfer', token: lower(token), to: lower(to), amountAtomic },
]
const paysAll = (permit: Permit, payee: Payee) => pays(permit, payee, permit.permitted.amount)

export const permitCalls: readonly KnownFunctions[] = [
  {
    signatures: ['settle(Permit permit, address owner, Payee payee, bytes signature)'],
    read: (permit, _owner, payee) => paysAll(permit, payee),
    structs,
    byName: true,
  },
  {
    signatures: [
      'settleWithPermit(Approval approval, Permit permit, address owner, Payee payee, bytes signature)',
    ],
    read: (_approval, permit, _owner, payee) => paysAll(permit, payee),
    structs,
    byName: true,
  },
  {
    signatures: [
      'settle(Permit permit, uint256 amount, address owner, PayeeOfSender payee, bytes signature)',
    ],
    read: (permit, amount, _owner, payee) => pays(permit, payee, amount),
    structs,
    byName: true,
  },
  {
    signatures: [
      'settleWithPermit(Approval approval, Permit permit, uint256 amount, address owner, PayeeOfSender payee, bytes signature)',
    ],
    read: (_approval, permit, amount, _owner, payee) => pays(permit, payee, amount),
    structs,
    byName: true,
  },
]
