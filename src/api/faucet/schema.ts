import Type from 'typebox'
import { blockchains, environmentOf } from '#chains/blockchains'

const testBlockchains = blockchains.filter((name) => environmentOf(name) === 'TEST')

const wanted = (what: string) => Type.Optional(Type.Boolean({ default: false, description: what }))

export const dripSchema = Type.Object(
  {
    address: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Where to pay, any address of the blockchain.',
    }),
    blockchain: Type.Enum(testBlockchains),
    native: wanted('Pay 1 native coin.'),
    usdc: wanted('Pay 20 USDC.'),
    eurc: wanted('Pay 20 EURC.'),
  },
  {
    examples: [
      {
        address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
        blockchain: 'BASE-SEPOLIA',
        native: true,
        usdc: true,
      },
    ],
  },
)
