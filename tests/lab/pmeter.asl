// SPDX-License-Identifier: Apache-2.0
/*
 * An ACPI power meter (ACPI 6.5, section 10.4) for a guest: the kernel's driver acpi_power_meter reads it as it reads a server's.
 * What it shows is in a page of memory that the guest's kernel does not use (memmap=64K$0x1F000000), and that the test writes.
 */
DefinitionBlock ("pmeter.aml", "SSDT", 2, "KEPLER", "PMETER", 0x00000001)
{
  Scope (\_SB)
  {
    Device (PMT0)
    {
      Name (_HID, "ACPI000D")
      Name (_UID, "LAB0")
      Method (_STA, 0, NotSerialized) { Return (0x0F) }
      OperationRegion (PAGE, SystemMemory, 0x1F000000, 0x1000)
      Field (PAGE, DWordAcc, NoLock, Preserve)
      {
        PWMW, 32, // power in mW; 0xFFFFFFFF: there is no reading
        STAL, 32, // seconds that a reading takes
        NRD, 32   // readings so far
      }
      // It measures (1); in mW; of the input; to 99 %, every second, as a mean over one to ten.
      Method (_PMC, 0, NotSerialized)
      {
        Return (Package (14) { 0x01, 0, 0, 99000, 1000, 1000, 10000, 1000, 0, 0, 800000, "LabMeter", "SN0001", "KEPLER-LAB" })
      }
      Method (_PMM, 0, Serialized)
      {
        Increment (NRD)
        Store (STAL, Local0)
        While (LGreater (Local0, 0)) // the kernel sleeps two seconds at a time at most
        {
          Sleep (1000)
          Decrement (Local0)
        }
        Return (PWMW)
      }
      Method (_GAI, 0, NotSerialized) { Return (1000) }
      Method (_PMD, 0, NotSerialized) { Return (Package () { \_SB.PMT0 }) }
    }
  }
}
